import { checkTopology } from "./check-topology.ts";
import {
  type Amounts,
  amounts,
  anyTermHolds,
  hardTaint,
  type Json,
  type Labels,
  likesNode,
  type Machine,
  nameOf,
  plus,
  portsClash,
  portsOf,
  requestsOf,
  valueAllowed,
} from "./judge-rules.ts";

/** A rule that a plan breaks, and the pods concerned (none: the whole plan). */
export interface Finding {
  readonly text: string;
  readonly pods: readonly string[];
}

/** Hard rules that a plan breaks. Judges the scenario's raw JSON; shares no code with the solver. */
export function judge(scenario: Json, plan: Json): readonly Finding[] {
  const findings: Finding[] = [];
  const report = (text: string, ...pods: string[]): void => void findings.push({ text, pods });
  const byName = new Map<string, Json>(scenario.pods.map((pod: Json) => [nameOf(pod), pod]));
  const seen = new Set<string>();
  const machines = existingMachines(scenario);
  for (const pod of [...plan.newNodeClaims, ...plan.existingNodes].flatMap((place: Json) => place.pods)) {
    if (seen.has(pod)) report("placed twice", pod);
    seen.add(pod);
    if (!byName.has(pod)) report("no such pod", pod);
  }
  for (const pod of Object.keys(plan.podErrors)) if (seen.has(pod)) report("placed and in podErrors", pod);
  for (const { name, pods } of plan.existingNodes) {
    const machine = machines.get(name);
    if (machine === undefined) {
      report(`node ${name} is not there to take pods`, ...pods);
      continue;
    }
    const added = pods.map((pod: string) => byName.get(pod));
    checkExisting(scenario, machine, added, report);
    machine.pods.push(...added);
  }
  plan.newNodeClaims.forEach((claim: Json, i: number) => {
    const pods = claim.pods.map((pod: string) => byName.get(pod));
    const machine = checkClaim(scenario, claim, pods, `claim-${i}`, report);
    if (machine !== undefined) machines.set(machine.name, machine);
  });
  checkLimits(scenario, plan, report);
  checkReservations(scenario, plan, report);
  checkTopology(scenario, [...machines.values()], seen, report);
  return findings;
}

/** The findings as text. */
export function brokenRules(scenario: Json, plan: Json): readonly string[] {
  return judge(scenario, plan).map(({ text, pods }) => `${text}${pods.length > 0 ? `: ${pods.slice(0, 3).join(", ")}` : ""}`);
}

const TRANSIENT = [
  "node.kubernetes.io/not-ready",
  "node.kubernetes.io/unreachable",
  "node.cloudprovider.kubernetes.io/uninitialized",
  "karpenter.sh/unregistered",
];

function existingMachines(scenario: Json): Map<string, Machine> {
  const machines = new Map<string, Machine>();
  const claims = new Map<string, Json>((scenario.nodeClaims ?? []).map((claim: Json) => [claim.status?.providerID, claim]));
  const running = (name: string): Json[] =>
    scenario.pods.filter((pod: Json) => pod.spec.nodeName === name && !["Succeeded", "Failed"].includes(pod.status?.phase));
  for (const node of scenario.nodes ?? []) {
    const claim = claims.get(node.spec.providerID);
    claims.delete(node.spec.providerID);
    if (node.metadata.deletionTimestamp || claim?.metadata.deletionTimestamp) continue;
    const starting = claim && node.metadata.labels?.["karpenter.sh/initialized"] !== "true";
    const startup = claim?.spec.startupTaints ?? [];
    const taints = (node.spec.taints ?? []).filter(
      (t: Json) => !starting || !(TRANSIENT.includes(t.key) || startup.some((s: Json) => s.key === t.key && s.effect === t.effect)),
    );
    const name = node.metadata.name;
    machines.set(name, {
      name,
      labels: { "kubernetes.io/hostname": name, ...node.metadata.labels },
      taints,
      pods: running(name),
      isNew: false,
    });
  }
  for (const claim of claims.values()) {
    if (!claim.status?.providerID || claim.metadata.deletionTimestamp) continue;
    const name = claim.metadata.name;
    machines.set(name, {
      name,
      labels: { "kubernetes.io/hostname": name, ...claim.metadata.labels },
      taints: claim.spec.taints ?? [],
      pods: [],
      isNew: false,
    });
  }
  return machines;
}

type Report = (text: string, ...pods: string[]) => void;

function exceeds(used: Amounts, room: Amounts): string | undefined {
  return Object.entries(used).find(([name, n]) => n > (room[name] ?? 0) * (1 + 1e-12) + 1e-9)?.[0];
}

function checkExisting(scenario: Json, machine: Machine, added: Json[], report: Report): void {
  const node = scenario.nodes.find((n: Json) => n.metadata.name === machine.name);
  const claim = scenario.nodeClaims.find((c: Json) =>
    node ? c.status?.providerID === node.spec.providerID : c.metadata.name === machine.name,
  );
  const room = { ...amounts(claim?.status?.allocatable), ...nonZero(amounts(node?.status?.allocatable)) };
  const used = [...machine.pods, ...added].reduce((sum: Amounts, pod) => plus(sum, requestsOf(pod.spec)), {});
  const over = exceeds(used, room);
  if (over !== undefined) report(`node ${machine.name} has too little ${over}`, ...added.map(nameOf));
  const present = [...machine.pods];
  for (const pod of added) {
    const taint = hardTaint(machine.taints, pod.spec.tolerations);
    if (taint) report(`taint ${taint.key} of node ${machine.name} is not tolerated`, nameOf(pod));
    if (!likesNode(pod.spec, machine.labels)) report(`node ${machine.name} does not match the pod's selector or affinity`, nameOf(pod));
    if (present.some((other) => portsClash(portsOf(pod.spec), portsOf(other.spec))))
      report(`host port taken on ${machine.name}`, nameOf(pod));
    if (!volumesReach(scenario, pod, machine.labels)) report(`a volume cannot be used on ${machine.name}`, nameOf(pod));
    present.push(pod);
  }
  checkVolumeLimit(scenario, machine.name, present, added, report);
}

function nonZero(list: Amounts): Amounts {
  return Object.fromEntries(Object.entries(list).filter(([, n]) => n !== 0));
}

function volumeClaimsOf(scenario: Json, pod: Json): Json[] {
  return (pod.spec.volumes ?? []).flatMap((v: Json) => {
    const name = v.persistentVolumeClaim?.claimName ?? (v.ephemeral ? `${pod.metadata.name}-${v.name}` : undefined);
    const found = (scenario.persistentVolumeClaims ?? []).find(
      (c: Json) => c.metadata.name === name && c.metadata.namespace === pod.metadata.namespace,
    );
    return found ? [found] : [];
  });
}

function volumesReach(scenario: Json, pod: Json, labels: Labels): boolean {
  return volumeClaimsOf(scenario, pod).every((claim) => {
    const volume = (scenario.persistentVolumes ?? []).find((v: Json) => v.metadata.name === claim.spec.volumeName);
    if (volume) {
      const terms = volume.spec.nodeAffinity?.required?.nodeSelectorTerms;
      return terms === undefined || anyTermHolds(terms, labels);
    }
    const storage = (scenario.storageClasses ?? []).find((s: Json) => s.metadata.name === claim.spec.storageClassName);
    const allowed = storage?.allowedTopologies ?? [];
    return (
      allowed.length === 0 ||
      allowed.some((a: Json) => a.matchLabelExpressions.every((e: Json) => valueAllowed("In", e.values, labels[e.key])))
    );
  });
}

function checkVolumeLimit(scenario: Json, name: string, pods: Json[], added: Json[], report: Report): void {
  const drivers = (scenario.csiNodes ?? []).find((c: Json) => c.metadata.name === name)?.spec.drivers ?? [];
  const limit = drivers.find((d: Json) => d.name === "ebs.csi.aws.com")?.allocatable?.count;
  if (limit === undefined || added.every((pod) => volumeClaimsOf(scenario, pod).length === 0)) return;
  const attached = new Set(pods.flatMap((pod) => volumeClaimsOf(scenario, pod).map((c) => `${c.metadata.namespace}/${c.metadata.name}`)));
  if (attached.size > limit) report(`node ${name} would attach ${attached.size} volumes of ${limit}`, ...added.map(nameOf));
}

/** Nodes that a claim may become: every listed type with every offering that its requirements admit, dearest possibilities included. */
function possibleNodes(scenario: Json, claim: Json): { type: Json; labels: Labels; price: number }[] {
  const pool = scenario.nodePools.find((p: Json) => p.metadata.name === claim.nodePool);
  const base: Labels = { ...pool.spec.template.metadata?.labels, "karpenter.sh/nodepool": claim.nodePool, ...claim.labels };
  return claim.instanceTypes.flatMap((name: string) => {
    const type = scenario.instanceTypes.find((t: Json) => t.name === name);
    return type.offerings.flatMap((o: Json) => {
      const labels: Labels = { ...base };
      for (const r of type.requirements)
        if (r.operator === "In")
          labels[r.key] =
            r.values.find((v: string) =>
              claim.requirements.every((q: Json) => q.key !== r.key || valueAllowed(q.operator, q.values ?? [], v)),
            ) ?? r.values[0];
      labels["topology.kubernetes.io/zone"] = o.zone;
      labels["topology.kubernetes.io/region"] ??= o.zone.replace(/[a-z]$/, "");
      labels["karpenter.sh/capacity-type"] = o.capacityType;
      if (o.reservationId) labels["karpenter.k8s.aws/capacity-reservation-id"] = o.reservationId;
      else delete labels["karpenter.k8s.aws/capacity-reservation-id"];
      const decided = (key: string): boolean => key in labels || key.startsWith("topology.") || key.startsWith("karpenter.");
      const admitted =
        o.available &&
        claim.requirements.every(
          (r: Json) =>
            !decided(r.key) || r.key === "karpenter.k8s.aws/ec2nodeclass" || valueAllowed(r.operator, r.values ?? [], labels[r.key]),
        );
      return admitted ? [{ type, labels, price: o.price }] : [];
    });
  });
}

function checkClaim(scenario: Json, claim: Json, pods: Json[], name: string, report: Report): Machine | undefined {
  const names = pods.map(nameOf);
  const pool = scenario.nodePools.find((p: Json) => p.metadata.name === claim.nodePool);
  const nodes = possibleNodes(scenario, claim);
  if (nodes.length === 0) report(`${name} has no offering that it may be launched as`, ...names);
  for (const typeName of claim.instanceTypes) {
    if (!nodes.some(({ type }) => type.name === typeName)) report(`${name} lists ${typeName}, which it cannot be launched as`, ...names);
  }
  const taints = pool.spec.template.spec.taints ?? [];
  const used = pods.reduce((sum: Amounts, pod) => plus(sum, requestsOf(pod.spec)), {});
  for (const { type, labels } of nodes) {
    const daemons = (scenario.daemonSets ?? [])
      .map((d: Json) => d.spec.template)
      .filter(
        (t: Json) =>
          !hardTaint(taints, t.spec.tolerations) &&
          likesNode(t.spec, { ...labels, "karpenter.sh/initialized": "true", "karpenter.sh/registered": "true" }),
      );
    const total = daemons.reduce((sum: Amounts, t: Json) => plus(sum, requestsOf(t.spec)), used);
    const over = exceeds(total, allocatable(type));
    if (over !== undefined) report(`${name} does not fit ${type.name}: ${over}`, ...names);
    for (const pod of pods) {
      if (!likesNode(pod.spec, labels))
        report(
          `${name} as ${type.name} in ${labels["topology.kubernetes.io/zone"]} does not match the pod's selector or affinity`,
          nameOf(pod),
        );
      if (!volumesReach(scenario, pod, labels)) report(`a volume cannot be used on ${name}`, nameOf(pod));
      if (daemons.some((t: Json) => portsClash(portsOf(pod.spec), portsOf(t.spec))))
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
        scenario.instanceTypes
          .find((x: Json) => x.name === t)
          .requirements.filter((q: Json) => q.key === r.key)
          .flatMap((q: Json) => q.values ?? []),
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

function allocatable(type: Json): Amounts {
  const overhead = [type.overhead?.kubeReserved, type.overhead?.systemReserved, type.overhead?.evictionThreshold]
    .map(amounts)
    .reduce(plus, {});
  return plus(amounts(type.capacity), Object.fromEntries(Object.entries(overhead).map(([name, n]) => [name, -n])));
}

/** Claims that can only be launched into reservations must find an instance each. */
function checkReservations(scenario: Json, plan: Json, report: Report): void {
  const left = new Map<string, number>();
  for (const type of scenario.instanceTypes)
    for (const o of type.offerings) if (o.reservationId) left.set(o.reservationId, o.reservationCapacity ?? 0);
  if (left.size === 0) return;
  for (const claim of plan.newNodeClaims) {
    const nodes = possibleNodes(scenario, claim);
    if (nodes.length === 0 || !nodes.every(({ labels }) => labels["karpenter.sh/capacity-type"] === "reserved")) {
      if (nodes.some(({ labels }) => labels["karpenter.sh/capacity-type"] === "reserved"))
        report("a claim may take a reservation without being pinned to it", ...claim.pods);
      continue;
    }
    const ids = [...new Set(nodes.map(({ labels }) => labels["karpenter.k8s.aws/capacity-reservation-id"] ?? ""))];
    for (const id of ids) {
      left.set(id, (left.get(id) ?? 0) - 1);
      if ((left.get(id) ?? 0) < 0) report(`reservation ${id} has fewer instances than claims`, ...claim.pods);
    }
  }
}

function checkLimits(scenario: Json, plan: Json, report: Report): void {
  for (const pool of scenario.nodePools) {
    const limits = amounts(pool.spec.limits);
    const claims = plan.newNodeClaims.filter((c: Json) => c.nodePool === pool.metadata.name);
    if (Object.keys(limits).length === 0 || claims.length === 0) continue;
    const going = new Set(
      (scenario.nodeClaims ?? []).filter((c: Json) => c.metadata.deletionTimestamp).map((c: Json) => c.status?.providerID),
    );
    const nodes = scenario.nodes.filter(
      (n: Json) => n.metadata.labels?.["karpenter.sh/nodepool"] === pool.metadata.name && !going.has(n.spec.providerID),
    );
    let used: Amounts = nodes.reduce((sum: Amounts, n: Json) => plus(plus(sum, amounts(n.status.capacity)), { nodes: 1 }), {});
    for (const claim of claims) {
      const capacities = claim.instanceTypes.map((t: string) => amounts(scenario.instanceTypes.find((x: Json) => x.name === t).capacity));
      used = plus(used, {
        ...Object.fromEntries(Object.keys(limits).map((k) => [k, Math.max(0, ...capacities.map((c: Amounts) => c[k] ?? 0))])),
        nodes: 1,
      });
    }
    for (const [name, limit] of Object.entries(limits))
      if ((used[name] ?? 0) > limit + 1e-9)
        report(
          `pool ${pool.metadata.name} may exceed its limit of ${name}: ${used[name]} > ${limit}`,
          ...claims.flatMap((c: Json) => c.pods),
        );
  }
}
