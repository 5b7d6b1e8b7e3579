import type { CapacityBufferSpec } from "../model/capacity-buffer.ts";

/**
 * What the API server refuses in a CapacityBuffer, by the rules of its CRD; each problem continues a sentence after
 * "spec".
 */
export function bufferProblems({ podTemplateRef, scalableRef, replicas, limits }: CapacityBufferSpec): readonly string[] {
  const problems: string[] = [];
  if (podTemplateRef && scalableRef) problems.push("has both podTemplateRef and scalableRef; leave one of them out");
  if (podTemplateRef && replicas === undefined && limits === undefined)
    problems.push("has a podTemplateRef and neither replicas nor limits to say how much; add one of them");
  return problems;
}
