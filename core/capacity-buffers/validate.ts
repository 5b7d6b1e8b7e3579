import type { CapacityBufferSpec } from "../model/capacity-buffer.ts";

/** What the API server refuses in a CapacityBuffer (the rules of its CRD), each as what follows "spec" in a sentence. */
export function bufferProblems({ podTemplateRef, scalableRef, replicas, limits }: CapacityBufferSpec): readonly string[] {
  const problems: string[] = [];
  if (podTemplateRef && scalableRef) problems.push("has both podTemplateRef and scalableRef; leave one of them out");
  if (podTemplateRef && replicas === undefined && limits === undefined)
    problems.push("has a podTemplateRef and neither replicas nor limits to say how much; add one of them");
  return problems;
}
