import type { Rule } from "./rule.ts";

/** What goes already is not taken a second time. */
export const deleting: Rule = ({ markedForDeletion, node }) =>
  markedForDeletion || node?.metadata.deletionTimestamp ? { reason: "Deleting" } : undefined;
