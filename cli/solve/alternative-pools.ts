import type { Plan, PlannedNodeClaim } from "#core/model/plan.ts";
import type { Snapshot } from "#core/model/snapshot.ts";
import { podKey } from "#core/pods/predicates.ts";
import { type SolveOptions, solve } from "#core/scheduling/solve.ts";

/** What another NodePool would do with the pods of a claim. */
interface OtherPool {
  readonly name: string;
  readonly weight: number;
  /** USD per hour of its nodes for them; undefined when it cannot take all of them. */
  readonly price: number | undefined;
  /** The cheapest type, the number of nodes where it needs several, or why it does not take the pods. */
  readonly text: string;
}

/**
 * The snapshot with the plan's pods bound to the existing nodes, so that these nodes have the room left that the solver
 * found.
 */
export function withNodesFilled(snapshot: Snapshot, { existingNodes }: Plan): Snapshot {
  const nodeOf = new Map(existingNodes.flatMap(({ name, pods }) => pods.map((pod) => [pod, name] as const)));
  const pods = snapshot.pods.map((pod) => {
    const nodeName = nodeOf.get(podKey(pod));
    return nodeName === undefined ? pod : { ...pod, spec: { ...pod.spec, nodeName } };
  });
  return { ...snapshot, pods };
}

/** Solves once for each other NodePool, with the pods of this claim only. */
export function otherPools(claim: PlannedNodeClaim, filled: Snapshot, settings: SolveOptions): readonly OtherPool[] {
  const own = new Set(claim.pods);
  const pods = filled.pods.filter((pod) => (pod.spec.nodeName ?? "") !== "" || own.has(podKey(pod)));
  const others = filled.nodePools.filter(({ metadata }) => metadata.name !== claim.nodePool);
  const byWeight = [...others].sort((a, b) => (b.spec.weight ?? 0) - (a.spec.weight ?? 0) || (a.metadata.name < b.metadata.name ? 1 : -1));
  return byWeight.map((pool): OtherPool => {
    const { name } = pool.metadata;
    const weight = pool.spec.weight ?? 0;
    const plan = solve({ ...filled, nodePools: [pool], pods }, settings);
    const [reason] = [...own].flatMap((pod) => plan.podErrors[pod] ?? []);
    if (reason !== undefined) {
      const text = reason.replace(`NodePool ${name}: `, "").replace(`no NodePool can launch nodes: ${name} `, "");
      return { name, weight, price: undefined, text };
    }
    const price = plan.newNodeClaims.reduce((sum, { pricePerHour }) => sum + pricePerHour, 0);
    const types = plan.newNodeClaims.map(({ instanceTypes: [type = ""] }) => type);
    return { name, weight, price, text: types.length === 1 ? (types[0] ?? "") : `${types.length} nodes` };
  });
}
