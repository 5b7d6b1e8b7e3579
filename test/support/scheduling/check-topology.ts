import { hardTaint, type JudgedMachine, likesNode, nameOf, type RawJson, selectorMatches } from "./judge-rules.ts";

/** Whether an affinity term of `owner` selects `pod`. */
function isAbout(scenario: RawJson, owner: RawJson, term: RawJson, pod: RawJson): boolean {
  const namespace = pod.metadata.namespace ?? "default";
  const own = owner.metadata.namespace ?? "default";
  const selected =
    term.namespaceSelector !== undefined && term.namespaceSelector !== null
      ? selectorMatches(
          term.namespaceSelector,
          (scenario.namespaces ?? []).find((n: RawJson) => n.metadata.name === namespace)?.metadata.labels ?? {},
        )
      : false;
  const named = (term.namespaces ?? []).length > 0 ? term.namespaces.includes(namespace) : !term.namespaceSelector && namespace === own;
  if (!named && !selected) return false;
  const keys = (term.matchLabelKeys ?? []).filter((k: string) => owner.metadata.labels?.[k] !== undefined);
  if (keys.some((k: string) => pod.metadata.labels?.[k] !== owner.metadata.labels[k])) return false;
  const others = (term.mismatchLabelKeys ?? []).filter((k: string) => owner.metadata.labels?.[k] !== undefined);
  if (others.some((k: string) => pod.metadata.labels?.[k] === owner.metadata.labels[k])) return false;
  return selectorMatches(term.labelSelector, pod.metadata.labels);
}

const required = (pod: RawJson, side: string): RawJson[] => pod.spec.affinity?.[side]?.requiredDuringSchedulingIgnoredDuringExecution ?? [];

/** Checks required affinity, anti-affinity (in both directions) and DoNotSchedule spreads after all pods are placed. */
export function checkTopology(
  scenario: RawJson,
  machines: readonly JudgedMachine[],
  placed: ReadonlySet<string>,
  report: (text: string, ...pods: string[]) => void,
): void {
  const all = machines.flatMap((machine) => machine.pods.filter((pod) => !pod.metadata.deletionTimestamp).map((pod) => ({ pod, machine })));
  for (const { pod, machine } of all) {
    const isPlaced = placed.has(nameOf(pod));
    for (const term of required(pod, "podAntiAffinity")) {
      const domain = machine.labels[term.topologyKey];
      if (domain === undefined) continue;
      for (const other of all) {
        if (other.pod === pod || (!isPlaced && !placed.has(nameOf(other.pod)))) continue;
        if (other.machine.labels[term.topologyKey] === domain && isAbout(scenario, pod, term, other.pod)) {
          report(
            `anti-affinity over ${term.topologyKey} is broken in ${domain}`,
            ...[pod, other.pod].map(nameOf).filter((name) => placed.has(name)),
          );
        }
      }
    }
    if (!isPlaced) continue;
    // A pod satisfies required affinity only when it matches all terms at once.
    const terms = required(pod, "podAffinity");
    const isCompany = (other: RawJson): boolean => terms.every((term) => isAbout(scenario, pod, term, other));
    const matching = terms.length === 0 ? [] : all.filter((other) => other.pod !== pod && isCompany(other.pod));
    const isCounted = (other: JudgedMachine): boolean => terms.some((term) => other.labels[term.topologyKey] !== undefined);
    const mayStart = isCompany(pod) && !matching.some((other) => !placed.has(nameOf(other.pod)) && isCounted(other.machine));
    for (const term of terms) {
      const domain = machine.labels[term.topologyKey];
      const near = matching.some((other) => domain !== undefined && other.machine.labels[term.topologyKey] === domain);
      if (domain === undefined || (!near && !mayStart))
        report(`affinity over ${term.topologyKey} finds no companion in ${domain}`, nameOf(pod));
    }
    for (const spread of pod.spec.topologySpreadConstraints ?? []) {
      if (spread.whenUnsatisfiable === "DoNotSchedule") checkSpread(scenario, spread, pod, machine, machines, placed, report);
    }
  }
}

function checkSpread(
  scenario: RawJson,
  spread: RawJson,
  pod: RawJson,
  machine: JudgedMachine,
  machines: readonly JudgedMachine[],
  placed: ReadonlySet<string>,
  report: (text: string, ...pods: string[]) => void,
): void {
  const domain = machine.labels[spread.topologyKey];
  if (domain === undefined) {
    report(`spread over ${spread.topologyKey}: the node lacks the label`, nameOf(pod));
    return;
  }
  const counts = new Map<string, number>();
  const here: RawJson[] = [];
  const keys: string[] = pod.spec.topologySpreadConstraints.flatMap((s: RawJson) =>
    s.whenUnsatisfiable === "DoNotSchedule" ? [s.topologyKey] : [],
  );
  for (const other of machines) {
    // A machine that lacks the topology key of any hard constraint of the pod does not count.
    const value = other.labels[spread.topologyKey];
    if (value === undefined || keys.some((key) => other.labels[key] === undefined)) continue;
    if (spread.nodeAffinityPolicy !== "Ignore" && !likesNode(pod.spec, other.labels)) continue;
    if (spread.nodeTaintsPolicy === "Honor" && hardTaint(other.taints, pod.spec.tolerations)) continue;
    const matching = other.pods.filter(
      (p) => !p.metadata.deletionTimestamp && isAbout(scenario, pod, { ...spread, namespaces: undefined }, p),
    );
    counts.set(value, (counts.get(value) ?? 0) + matching.length);
    if (value === domain) here.push(...matching);
  }
  // Pods that match and do not declare the constraint may have been placed later, so they are not counted.
  const declares = (p: RawJson): boolean =>
    (p.spec.topologySpreadConstraints ?? []).some((s: RawJson) => JSON.stringify(s) === JSON.stringify(spread));
  const bystanders = here.filter((p) => placed.has(nameOf(p)) && !declares(p)).length;
  if (!isAbout(scenario, pod, { ...spread, namespaces: undefined }, pod)) return;
  const least = counts.size < (spread.minDomains ?? 0) ? 0 : Math.min(...counts.values());
  const skew = (counts.get(domain) ?? 0) - bystanders - least;
  if (skew > spread.maxSkew) {
    report(
      `spread over ${spread.topologyKey}: ${domain} has ${counts.get(domain)} pods, ${skew} above the least (maxSkew ${spread.maxSkew})`,
      nameOf(pod),
    );
  }
}
