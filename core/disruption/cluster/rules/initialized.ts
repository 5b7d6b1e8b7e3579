import type { Rule } from "./rule.ts";

/** Until its startup taints are removed and its devices are registered, a node may be empty only because it is new. */
export const initialized: Rule = (machine) => (machine.initialized ? undefined : { reason: "NotInitialized" });
