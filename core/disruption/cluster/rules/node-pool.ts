import { NODE_POOL } from "#core/model/labels.ts";
import type { Rule } from "./rule.ts";

/** The NodePool must exist and offer at least one instance type: otherwise the node has no price and no policy. */
export const nodePool: Rule = ({ labels }, { nodePools, snapshot }) => {
  const name = labels[NODE_POOL];
  if (name === undefined) return { reason: "NodeLabelMissing", label: NODE_POOL };
  const known = nodePools.has(name) && (snapshot.instanceTypes.get(name)?.length ?? 0) > 0;
  return known ? undefined : { reason: "NodePoolNotFound", nodePool: name };
};
