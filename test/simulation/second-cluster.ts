import type { Lab } from "#lab/host.ts";
import { deployment, NODE_CLASS, nodePool } from "./story.ts";

/** A second cluster of the stack, in the same account, in which nothing goes wrong. */
export const SECOND = "second";
export const SECOND_WORKLOAD = "inflate";

/** Applies the objects of the second cluster. */
export function settleSecond({ second }: Lab): void {
  if (second === undefined) return;
  const pool = nodePool([{ key: "karpenter.sh/capacity-type", operator: "In", values: ["spot", "on-demand"] }]);
  for (const object of [NODE_CLASS, { ...pool, metadata: { name: SECOND } }, deployment(2, { cpu: "1" })]) second.apply(object);
}
