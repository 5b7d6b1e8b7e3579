import type { Rule } from "./rule.ts";

export const hasNode: Rule = ({ node }) => (node === undefined ? { reason: "NoNode" } : undefined);
