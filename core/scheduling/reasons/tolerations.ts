import type { Toleration } from "../../model/taint.ts";
import { describeTaint, untolerated } from "../../pods/taints.ts";
import type { PodData } from "../problem/pod-class.ts";
import type { Template } from "../problem/template.ts";

/**
 * The pool's first taint that the pod does not tolerate, and its toleration of the same key; undefined when it
 * tolerates all.
 */
export function tolerationText({ taints }: Template, podData: PodData): string | undefined {
  const taint = untolerated(taints, podData.tolerations);
  if (taint === undefined) return undefined;
  const near = podData.tolerations.find(({ key }) => key === taint.key);
  const but = near === undefined ? "" : ` (its toleration ${describeToleration(near)} is another)`;
  return `the pod does not tolerate its taint ${describeTaint(taint)}${but}; add a toleration if it may run there`;
}

function describeToleration({ key = "", operator, value, effect }: Toleration): string {
  return `${key}${operator === "Exists" ? "" : `${operator === "Gt" ? ">" : operator === "Lt" ? "<" : "="}${value ?? ""}`}:${effect || "any effect"}`;
}
