import type { Rule } from "./rule.ts";

export const initialized: Rule = (machine) => (machine.initialized ? undefined : { reason: "NotInitialized" });
