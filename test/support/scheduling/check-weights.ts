import { type Finding, judge } from "./check-plan.ts";
import {
  type Amounts,
  amounts,
  exceeds,
  likesNode,
  nameOf,
  plus,
  type RawJson,
  requestsOf,
  selectorMatches,
  tolerates,
} from "./judge-rules.ts";
import { possibleNodes } from "./machines.ts";

/** Instance types that are tried for one pod and pool. The largest come first, so that few attempts decide. */
const MAX_TRIED_TYPES = 8;

/**
 * Pods that a plan puts into a NodePool although a heavier one could take them: with the pod on a node of its own in
 * the heavier NodePool, the plan breaks no rule that it does not break without. Limits are judged with each planned
 * NodeClaim of the heavier NodePool as its cheapest type.
 *
 * Left out is what lets the weight decide later or not at all: pods with preferences, with OR-ed terms or in rules
 * about other pods, NodePools with minValues, and scenarios with capacity reservations.
 */
export function lighterThanNeeded(scenario: RawJson, plan: RawJson): readonly Finding[] {
  const hasReserved = scenario.instanceTypes.some((type: RawJson) => type.offerings.some((o: RawJson) => o.reservationId));
  const pools = scenario.nodePools.filter((pool: RawJson) => isJudged(pool));
  if (hasReserved || pools.length < 2) return [];
  const byName = new Map<string, RawJson>(scenario.pods.map((pod: RawJson) => [nameOf(pod), pod]));
  const known = new Map<string, boolean>();
  return plan.newNodeClaims.flatMap((claim: RawJson) =>
    claim.pods.flatMap((name: string): Finding[] => {
      const pod = byName.get(name);
      const heavier = pools.filter((pool: RawJson) => weightOf(pool) > weightOf(poolOf(scenario, claim.nodePool)));
      if (heavier.length === 0 || !isIndependent(scenario, pod)) return [];
      const could = heavier.find((pool: RawJson) => {
        const key = JSON.stringify([pool.metadata.name, claim.nodePool, pod.spec, pod.metadata.labels ?? {}]);
        const answer = known.get(key) ?? couldTake(scenario, plan, pool, pod);
        known.set(key, answer);
        return answer;
      });
      return could === undefined
        ? []
        : [{ text: `NodePool ${claim.nodePool} has a pod that ${could.metadata.name} could take`, pods: [name] }];
    }),
  );
}

/** Whether a plan has more pods on new nodes of heavier NodePools than another one: then its price may be higher. */
export function isHeavier(scenario: RawJson, plan: RawJson, other: RawJson): boolean {
  const podsFrom = (weight: number, { newNodeClaims }: RawJson): number =>
    newNodeClaims
      .filter((claim: RawJson) => weightOf(poolOf(scenario, claim.nodePool)) >= weight)
      .reduce((sum: number, claim: RawJson) => sum + claim.pods.length, 0);
  const weights: number[] = scenario.nodePools.map(weightOf).sort((a: number, b: number) => b - a);
  const weight = weights.find((one) => podsFrom(one, plan) !== podsFrom(one, other));
  return weight !== undefined && weight > Math.min(...weights) && podsFrom(weight, plan) > podsFrom(weight, other);
}

const weightOf = (pool: RawJson): number => pool.spec.weight ?? 0;

const poolOf = (scenario: RawJson, name: string): RawJson => scenario.nodePools.find((pool: RawJson) => pool.metadata.name === name);

/** Whether a NodePool launches nodes for pods, and no rule but its own decides which types they are. */
function isJudged({ metadata, spec, status }: RawJson): boolean {
  const ready = (status?.conditions ?? []).find((c: RawJson) => c.type === "Ready");
  if (metadata.deletionTimestamp || (spec.replicas ?? null) !== null || (ready !== undefined && ready.status !== "True")) return false;
  return !spec.template.spec.requirements.some((r: RawJson) => r.minValues !== undefined);
}

/** Whether the pod has no preferences and no rule about other pods is about it. */
function isIndependent(scenario: RawJson, pod: RawJson): boolean {
  const node = pod.spec.affinity?.nodeAffinity;
  if ((node?.preferredDuringSchedulingIgnoredDuringExecution ?? []).length > 0) return false;
  if ((node?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? []).length > 1) return false;
  if (rulesOf(pod).length > 0) return false;
  return !scenario.pods.some((other: RawJson) => rulesOf(other).some((rule) => selectorMatches(rule.labelSelector, pod.metadata.labels)));
}

/** Affinity terms and spread constraints of a pod. */
function rulesOf({ spec }: RawJson): readonly RawJson[] {
  const terms = [spec.affinity?.podAffinity, spec.affinity?.podAntiAffinity].flatMap((rules: RawJson) => [
    ...(rules?.requiredDuringSchedulingIgnoredDuringExecution ?? []),
    ...(rules?.preferredDuringSchedulingIgnoredDuringExecution ?? []).map((weighted: RawJson) => weighted.podAffinityTerm),
  ]);
  return [...terms, ...(spec.topologySpreadConstraints ?? [])];
}

/** Whether the plan stays as it is, rule by rule, when the pod gets a node of its own in a pool. */
function couldTake(scenario: RawJson, plan: RawJson, pool: RawJson, pod: RawJson): boolean {
  const taints = pool.spec.template.spec.taints ?? [];
  if (taints.some((taint: RawJson) => !tolerates(pod.spec.tolerations, taint))) return false;
  const [term] = pod.spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? [];
  const wanted = [
    ...Object.entries(pod.spec.nodeSelector ?? {}).map(([key, value]) => ({ key, operator: "In", values: [value] })),
    ...(term?.matchExpressions ?? []),
  ];
  // A node gets a label of the user's only when its pool's requirements have the key.
  const defined = new Set(
    [pool.spec.template.spec, ...scenario.instanceTypes].flatMap(({ requirements }: RawJson) => requirements.map((r: RawJson) => r.key)),
  );
  const own = {
    nodePool: pool.metadata.name,
    taints,
    requirements: [...pool.spec.template.spec.requirements, ...wanted.filter(({ key }) => defined.has(key))],
    instanceTypes: scenario.instanceTypes.map((type: RawJson) => type.name),
    pods: [nameOf(pod)],
  };
  const left = leftOf(scenario, plan, pool);
  const nodes = possibleNodes(scenario, own).filter(
    ({ type, labels }) =>
      likesNode(pod.spec, labels) &&
      exceeds(requestsOf(pod), amounts(type.capacity)) === undefined &&
      Object.keys(left).every((name) => (name === "nodes" ? 1 : (amounts(type.capacity)[name] ?? 0)) <= (left[name] ?? 0)),
  );
  const without = cutDown(plan, pool.metadata.name, nameOf(pod));
  const before = new Set(judge(scenario, without).map(({ text }) => text));
  const size = ({ type }: (typeof nodes)[number]): number => amounts(type.capacity)["cpu"] ?? 0;
  const tried = nodes.sort((a, b) => size(b) - size(a)).slice(0, MAX_TRIED_TYPES);
  return tried.some(({ type, labels }) => {
    const place = ["topology.kubernetes.io/zone", "karpenter.sh/capacity-type"];
    const pinned = place.map((key) => ({ key, operator: "In", values: [labels[key]] }));
    const claim = { ...own, instanceTypes: [type.name], requirements: [...own.requirements, ...pinned] };
    const found = judge(scenario, { ...plan, newNodeClaims: [...without.newNodeClaims, claim] });
    return found.every(({ text, pods }) => before.has(text) && !pods.includes(nameOf(pod)));
  });
}

/** What a pool's limits leave when each planned NodeClaim becomes its cheapest type. */
function leftOf(scenario: RawJson, plan: RawJson, pool: RawJson): Amounts {
  const nodes = scenario.nodes.filter((node: RawJson) => node.metadata.labels?.["karpenter.sh/nodepool"] === pool.metadata.name);
  const seen = new Set(nodes.map((node: RawJson) => node.spec.providerID));
  const claims = (scenario.nodeClaims ?? []).filter(
    ({ metadata, status }: RawJson) => metadata.labels?.["karpenter.sh/nodepool"] === pool.metadata.name && !seen.has(status?.providerID),
  );
  const planned = plan.newNodeClaims.filter((claim: RawJson) => claim.nodePool === pool.metadata.name);
  const used = [
    ...[...nodes, ...claims].map((object: RawJson) => object.status?.capacity),
    ...planned.map((claim: RawJson) => scenario.instanceTypes.find((type: RawJson) => type.name === claim.instanceTypes[0]).capacity),
  ].reduce((sum: Amounts, capacity: RawJson) => plus(plus(sum, amounts(capacity)), { nodes: 1 }), {});
  return Object.fromEntries(Object.entries(amounts(pool.spec.limits)).map(([name, limit]) => [name, limit - (used[name] ?? 0)]));
}

/** The plan without one pod, and with the claims of a pool as their cheapest types. */
function cutDown(plan: RawJson, pool: string, pod: string): RawJson {
  const newNodeClaims = plan.newNodeClaims.flatMap((claim: RawJson) => {
    const pods = claim.pods.filter((name: string) => name !== pod);
    const instanceTypes = claim.nodePool === pool ? claim.instanceTypes.slice(0, 1) : claim.instanceTypes;
    return pods.length === 0 ? [] : [{ ...claim, pods, instanceTypes }];
  });
  return { ...plan, newNodeClaims, podErrors: { ...plan.podErrors, [pod]: "is judged elsewhere" } };
}
