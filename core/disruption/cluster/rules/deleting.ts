import type { Rule } from "./rule.ts";

/** The node or its NodeClaim is being removed already. */
export const deleting: Rule = ({ markedForDeletion, node }) =>
  markedForDeletion || node?.metadata.deletionTimestamp ? { reason: "Deleting" } : undefined;
