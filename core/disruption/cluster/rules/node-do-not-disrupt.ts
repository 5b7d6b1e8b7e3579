import { DO_NOT_DISRUPT } from "../../../model/labels.ts";
import type { Rule } from "./rule.ts";

/** On nodes only "true" counts; durations are for pods. */
export const nodeDoNotDisrupt: Rule = ({ node }) =>
  node?.metadata.annotations?.[DO_NOT_DISRUPT] === "true" ? { reason: "NodeDoNotDisrupt" } : undefined;
