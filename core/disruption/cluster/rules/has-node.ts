import type { Rule } from "./rule.ts";

/** An instance that has not joined the cluster is not disrupted: the lifecycle's timeouts end it. */
export const hasNode: Rule = ({ node }) => (node === undefined ? { reason: "NoNode" } : undefined);
