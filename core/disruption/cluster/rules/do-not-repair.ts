import { DO_NOT_REPAIR } from "#core/model/labels.ts";
import type { Rule } from "./rule.ts";

/** Karpenter reads it on the Node alone once that is registered; here it holds on either, since a user sets one. */
export const doNotRepair: Rule = ({ node, claim }) =>
  [node, claim].some((one) => one?.metadata.annotations?.[DO_NOT_REPAIR] === "true") ? { reason: "DoNotRepair" } : undefined;
