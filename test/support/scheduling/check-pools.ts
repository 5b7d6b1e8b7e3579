import { type Amounts, amounts, plus, type RawJson, type Report, typesOf } from "./judge-rules.ts";
import { possibleNodes } from "./machines.ts";

/** Reports capacity reservations that have fewer instances than planned NodeClaims may take. */
export function checkReservations(scenario: RawJson, plan: RawJson, report: Report): void {
  const left = new Map<string, number>();
  for (const type of [...scenario.instanceTypes, ...Object.values(scenario.typesOfPool ?? {}).flat()] as RawJson[])
    for (const o of type.offerings) if (o.reservationId) left.set(o.reservationId, o.reservationCapacity ?? 0);
  if (left.size === 0) return;
  for (const claim of plan.newNodeClaims) {
    const ids = new Set(possibleNodes(scenario, claim).map(({ labels }) => labels["karpenter.k8s.aws/capacity-reservation-id"]));
    for (const id of ids) {
      if (id === undefined) continue;
      left.set(id, (left.get(id) ?? 0) - 1);
      if ((left.get(id) ?? 0) < 0) report(`reservation ${id} has fewer instances than claims`, ...claim.pods);
    }
  }
}

/** Reports NodePool limits that a plan exceeds when each NodeClaim becomes the largest of its instance types. */
export function checkLimits(scenario: RawJson, plan: RawJson, report: Report): void {
  for (const pool of scenario.nodePools) {
    const limits = amounts(pool.spec.limits);
    const claims = plan.newNodeClaims.filter((c: RawJson) => c.nodePool === pool.metadata.name);
    if (Object.keys(limits).length === 0 || claims.length === 0) continue;
    const going = new Set(
      (scenario.nodeClaims ?? []).filter((c: RawJson) => c.metadata.deletionTimestamp).map((c: RawJson) => c.status?.providerID),
    );
    const nodes = scenario.nodes.filter(
      (n: RawJson) => n.metadata.labels?.["karpenter.sh/nodepool"] === pool.metadata.name && !going.has(n.spec.providerID),
    );
    let used: Amounts = nodes.reduce((sum: Amounts, n: RawJson) => plus(plus(sum, amounts(n.status.capacity)), { nodes: 1 }), {});
    for (const claim of claims) {
      const capacities = claim.instanceTypes.map((t: string) =>
        amounts(typesOf(scenario, claim.nodePool).find((x: RawJson) => x.name === t).capacity),
      );
      used = plus(used, {
        ...Object.fromEntries(Object.keys(limits).map((k) => [k, Math.max(0, ...capacities.map((c: Amounts) => c[k] ?? 0))])),
        nodes: 1,
      });
    }
    for (const [name, limit] of Object.entries(limits))
      if ((used[name] ?? 0) > limit + 1e-9)
        report(
          `pool ${pool.metadata.name} may exceed its limit of ${name}: ${used[name]} > ${limit}`,
          ...claims.flatMap((c: RawJson) => c.pods),
        );
  }
}

const MAX_PRICE = "karpenter-serverless/max-price-per-hour";

/** The highest price of an offering of a type that a NodeClaim allows by zone and capacity type, available or not. */
function highestPrice(type: RawJson, requirements: readonly RawJson[]): number {
  const isAllowed = (key: string, value: string): boolean =>
    requirements.every((r) => r.key !== key || r.operator !== "In" || r.values.includes(value));
  const allowed = type.offerings.filter(
    (o: RawJson) => isAllowed("topology.kubernetes.io/zone", o.zone) && isAllowed("karpenter.sh/capacity-type", o.capacityType),
  );
  return Math.max(0, ...allowed.map((o: RawJson) => o.price));
}

/**
 * Reports price caps, of a NodePool and of the cluster, that a plan exceeds when each NodeClaim becomes the most
 * expensive machine that it allows.
 */
export function checkPriceCaps(scenario: RawJson, plan: RawJson, report: Report): void {
  const spent = new Map<string, number>();
  const add = (pool: string, price: number): unknown => spent.set(pool, (spent.get(pool) ?? 0) + price);
  for (const { metadata } of scenario.nodes) {
    const { labels } = metadata;
    const pool = labels?.["karpenter.sh/nodepool"];
    if (!scenario.nodePools.some((p: RawJson) => p.metadata.name === pool)) continue;
    const type = typesOf(scenario, pool).find((t: RawJson) => t.name === labels["node.kubernetes.io/instance-type"]);
    const own = type?.offerings.find(
      (o: RawJson) => o.zone === labels["topology.kubernetes.io/zone"] && o.capacityType === labels["karpenter.sh/capacity-type"],
    );
    add(pool, own?.price ?? 0);
  }
  const before = [...spent.values()].reduce((a, b) => a + b, 0);
  for (const claim of plan.newNodeClaims) {
    const types = typesOf(scenario, claim.nodePool).filter((t: RawJson) => claim.instanceTypes.includes(t.name));
    add(claim.nodePool, Math.max(...types.map((t: RawJson) => highestPrice(t, claim.requirements))));
  }
  const pods = plan.newNodeClaims.flatMap((c: RawJson) => c.pods);
  for (const pool of scenario.nodePools) {
    const cap = Number(pool.metadata.annotations?.[MAX_PRICE] ?? Number.POSITIVE_INFINITY);
    const bought = plan.newNodeClaims.some((c: RawJson) => c.nodePool === pool.metadata.name);
    const { name } = pool.metadata;
    if (bought && (spent.get(name) ?? 0) > cap + 1e-9)
      report(`pool ${name} may cost ${spent.get(name)} an hour, more than its ${cap}`, ...pods);
  }
  const all = [...spent.values()].reduce((a, b) => a + b, 0);
  const cap = scenario.maxPricePerHour ?? Number.POSITIVE_INFINITY;
  if (all > before && all > cap + 1e-9) report(`the cluster may cost ${all} an hour, more than its ${cap}`, ...pods);
}
