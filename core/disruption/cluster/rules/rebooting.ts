import { isTrue } from "#core/model/conditions.ts";
import type { Rule } from "./rule.ts";

/** A reboot that was asked for ends by itself, or in the replacement of the node. */
export const rebooting: Rule = ({ claim }) => (isTrue(claim.status?.conditions, "Rebooting") ? { reason: "Rebooting" } : undefined);
