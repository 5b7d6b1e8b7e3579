import type { Rule } from "./rule.ts";

/** A node is empty only because it is new, until its startup taints are removed and its devices are registered. */
export const initialized: Rule = (machine) => (machine.initialized ? undefined : { reason: "NotInitialized" });
