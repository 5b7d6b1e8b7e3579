import type { Rule } from "./rule.ts";

/** One command at a time for each node. */
export const inCommand: Rule = ({ claim }, view) => (view.inCommand.has(claim.metadata.name) ? { reason: "InCommand" } : undefined);
