import type { Rule } from "./rule.ts";

/** A node is in at most one command at a time. */
export const inCommand: Rule = ({ claim }, view) => (view.inCommand.has(claim.metadata.name) ? { reason: "InCommand" } : undefined);
