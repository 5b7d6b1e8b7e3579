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
