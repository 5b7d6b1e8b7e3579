import type { Rule } from "./rule.ts";

/** A node stays while a command moves pods to it: they are not there yet, and so no simulation would place them. */
export const destination: Rule = ({ claim }, view) => (view.destinations.has(claim.metadata.name) ? { reason: "Destination" } : undefined);
