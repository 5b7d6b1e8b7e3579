import { volumesReach } from "./check-volumes.ts";
import {
  type Amounts,
  amounts,
  daemonsOf,
  exceeds,
  hardTaint,
  type JudgedMachine,
  likesNode,
  nameOf,
  plus,
  portsClash,
  portsOf,
  type RawJson,
  type Report,
  requestsOf,
  typesOf,
} from "./judge-rules.ts";
import { possibleNodes } from "./machines.ts";

/** Reports what is wrong with one planned NodeClaim; returns the node that its cheapest offering makes. */
export function checkClaim(scenario: RawJson, claim: RawJson, pods: RawJson[], name: string, report: Report): JudgedMachine | undefined {
  const names = pods.map(nameOf);
  const pool = scenario.nodePools.find((p: RawJson) => p.metadata.name === claim.nodePool);
  const nodes = possibleNodes(scenario, claim);
  if (nodes.length === 0) report(`${name} has no offering that it may be launched as`, ...names);
  for (const typeName of claim.instanceTypes) {
    if (!nodes.some(({ type }) => type.name === typeName)) report(`${name} lists ${typeName}, which it cannot be launched as`, ...names);
  }
  const taints = pool.spec.template.spec.taints ?? [];
  const used = pods.reduce((sum: Amounts, pod) => plus(sum, requestsOf(pod)), {});
  for (const { type, labels } of nodes) {
    const daemons = daemonsOf(scenario).filter(
      ({ pod, placement }) =>
        !hardTaint(taints, pod.spec.tolerations) &&
        likesNode(placement, { ...labels, "karpenter.sh/initialized": "true", "karpenter.sh/registered": "true" }),
    );
    const total = daemons.reduce((sum: Amounts, { pod }) => plus(sum, requestsOf(pod)), used);
    const over = exceeds(total, allocatable(type));
    if (over !== undefined) report(`${name} does not fit ${type.name}: ${over}`, ...names);
    for (const pod of pods) {
      if (!likesNode(pod.spec, labels))
        report(
          `${name} as ${type.name} in ${labels["topology.kubernetes.io/zone"]} does not match the pod's selector or affinity`,
          nameOf(pod),
        );
      if (!volumesReach(scenario, pod, labels)) report(`a volume cannot be used on ${name}`, nameOf(pod));
      if (daemons.some((daemon) => portsClash(portsOf(pod.spec), portsOf(daemon.pod.spec))))
        report(`${name}: host port of a daemonset`, nameOf(pod));
    }
  }
  pods.forEach((pod, i) => {
    const taint = hardTaint(taints, pod.spec.tolerations);
    if (taint) report(`taint ${taint.key} of pool ${claim.nodePool} is not tolerated`, nameOf(pod));
    if (pods.slice(0, i).some((other) => portsClash(portsOf(pod.spec), portsOf(other.spec))))
      report(`host ports clash on ${name}`, nameOf(pod));
  });
  for (const r of pool.spec.template.spec.requirements) {
    if (r.minValues === undefined) continue;
    const values = new Set(
      claim.instanceTypes.flatMap((t: string) =>
        typesOf(scenario, claim.nodePool)
          .find((x: RawJson) => x.name === t)
          .requirements.filter((q: RawJson) => q.key === r.key)
          .flatMap((q: RawJson) => q.values ?? []),
      ),
    );
    if (values.size < r.minValues) report(`${name} offers ${values.size} values of ${r.key}, of ${r.minValues}`, ...names);
  }
  const best = nodes.reduce(
    (least: (typeof nodes)[number] | undefined, node) => (least === undefined || node.price < least.price ? node : least),
    undefined,
  );
  return best && { name, labels: { ...best.labels, "kubernetes.io/hostname": name }, taints, pods: [...pods], isNew: true };
}

function allocatable(type: RawJson): Amounts {
  const overhead = [type.overhead?.kubeReserved, type.overhead?.systemReserved, type.overhead?.evictionThreshold]
    .map(amounts)
    .reduce(plus, {});
  return plus(amounts(type.capacity), Object.fromEntries(Object.entries(overhead).map(([name, n]) => [name, -n])));
}
