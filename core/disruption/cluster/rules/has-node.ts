import type { Rule } from "./rule.ts";

/** A machine that has not joined is the lifecycle's to end, by its timeouts. */
export const hasNode: Rule = ({ node }) => (node === undefined ? { reason: "NoNode" } : undefined);
