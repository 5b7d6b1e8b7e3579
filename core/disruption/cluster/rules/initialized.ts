import type { Rule } from "./rule.ts";

/** Until its startup taints are gone and its devices are there, a node looks emptier than it is. */
export const initialized: Rule = (machine) => (machine.initialized ? undefined : { reason: "NotInitialized" });
