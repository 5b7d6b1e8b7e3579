import type { Rule } from "./rule.ts";

export const inCommand: Rule = ({ claim }, view) => (view.inCommand.has(claim.metadata.name) ? { reason: "InCommand" } : undefined);
