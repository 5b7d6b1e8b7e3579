import { NODE_POOL } from "../model/labels.ts";
import type { NodePool } from "../model/node-pool.ts";
import { resourcesProblem } from "../model/quantity.ts";
import type { Taint } from "../model/taint.ts";
import { nameProblems } from "../requirements/name.ts";
import {
  annotationBytes,
  isLabelValue,
  isQualifiedName,
  isRestrictedLabel,
  MAX_ANNOTATION_BYTES,
  MAX_REQUIREMENTS,
  MAX_VALUE_CHARACTERS,
  requirementProblem,
} from "../requirements/validation.ts";
import { expiryProblem } from "./launch-backoff.ts";
import { maxPriceProblem } from "./max-price.ts";
import { scheduleProblem } from "./schedule.ts";

const EFFECTS = new Set(["NoSchedule", "PreferNoSchedule", "NoExecute", ""]);

/**
 * All problems of a NodePool that its CRD schema cannot express, one sentence each
 * (karpenter: pkg/apis/v1/nodepool_validation.go, NodePool.RuntimeValidate).
 */
export function nodePoolProblems(pool: NodePool): readonly string[] {
  const {
    metadata: { name },
    spec,
  } = pool;
  const { metadata, spec: template } = spec.template;
  const problems: string[] = [...nameProblems(name, NODE_POOL)];
  for (const [key, value] of Object.entries(metadata?.labels ?? {})) {
    const where = `spec.template.metadata.labels: ${key}`;
    if (!isQualifiedName(key)) problems.push(`${where} is not a label key`);
    else if (key === NODE_POOL || isRestrictedLabel(key))
      problems.push(`${where} is restricted and cannot be set; use a label of your own`);
    if (!isLabelValue(value)) problems.push(`${where}="${value}" is not a label value`);
  }
  for (const key of Object.keys(metadata?.annotations ?? {}))
    if (!isQualifiedName(key.toLowerCase())) problems.push(`spec.template.metadata.annotations: ${key} is not an annotation key`);
  if (annotationBytes(metadata?.annotations) > MAX_ANNOTATION_BYTES)
    problems.push(`spec.template.metadata.annotations: together they have more than ${MAX_ANNOTATION_BYTES} bytes`);
  const items = Object.keys(metadata?.labels ?? {}).length + template.requirements.length;
  if (items > MAX_REQUIREMENTS)
    problems.push(`spec.template: labels and requirements are ${items} together; a NodeClaim takes ${MAX_REQUIREMENTS} at most`);
  const characters = template.requirements.flatMap(({ values = [] }) => values).join("").length;
  if (characters > MAX_VALUE_CHARACTERS)
    problems.push(
      `spec.template.spec.requirements: values have ${characters} characters together; a NodeClaim takes ${MAX_VALUE_CHARACTERS}`,
    );
  problems.push(...taintProblems(template.taints, "taints"), ...taintProblems(template.startupTaints, "startupTaints"));
  const seen = new Set<string>();
  for (const { key, effect } of [...(template.taints ?? []), ...(template.startupTaints ?? [])]) {
    if (seen.has(`${key}:${effect}`)) problems.push(`taint ${key}:${effect} is given twice in spec.template.spec.taints and startupTaints`);
    seen.add(`${key}:${effect}`);
  }
  for (const requirement of template.requirements) {
    const where = "spec.template.spec.requirements";
    if (requirement.key === NODE_POOL) problems.push(`${where}: ${NODE_POOL} is set by the system`);
    const problem = requirementProblem(requirement);
    if (problem !== undefined) problems.push(`${where}: ${problem}`);
  }
  const limit = resourcesProblem(spec.limits);
  if (limit !== undefined) problems.push(`spec.limits: ${limit}`);
  const expiry = expiryProblem(pool);
  if (expiry !== undefined) problems.push(expiry);
  const price = maxPriceProblem(pool);
  if (price !== undefined) problems.push(price);
  const schedule = scheduleProblem(pool);
  if (schedule !== undefined) problems.push(schedule);
  return problems;
}

function taintProblems(taints: readonly Taint[] = [], list: string): readonly string[] {
  return taints.flatMap(({ key, value, effect }) => {
    const where = `spec.template.spec.${list}: taint ${key}`;
    const problems: string[] = [];
    if (!isQualifiedName(key)) problems.push(`${where} has a key that is no label key`);
    if (value && !isQualifiedName(value)) problems.push(`${where} has the value "${value}", which is not a name`);
    if (!EFFECTS.has(effect)) problems.push(`${where} has the effect "${effect}"; use NoSchedule, PreferNoSchedule or NoExecute`);
    return problems;
  });
}
