import type { Rule } from "./rule.ts";

export const deleting: Rule = ({ markedForDeletion, node }) =>
  markedForDeletion || node?.metadata.deletionTimestamp ? { reason: "Deleting" } : undefined;
