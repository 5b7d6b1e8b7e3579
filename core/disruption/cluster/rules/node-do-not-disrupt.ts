import { DO_NOT_DISRUPT } from "#core/model/labels.ts";
import type { Rule } from "./rule.ts";

/** On nodes only "true" counts; durations count on pods alone, as in Karpenter. */
export const nodeDoNotDisrupt: Rule = ({ node }) =>
  node?.metadata.annotations?.[DO_NOT_DISRUPT] === "true" ? { reason: "NodeDoNotDisrupt" } : undefined;
