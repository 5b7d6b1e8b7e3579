import { NODE_CLASS } from "../model/labels.ts";
import type { NodeClaim } from "../model/node-claim.ts";
import type { NodeSelectorRequirementWithMinValues } from "../model/node-pool.ts";
import type { Taint } from "../model/taint.ts";
import {
  annotationBytes,
  isLabelValue,
  isQualifiedName,
  MAX_ANNOTATION_BYTES,
  MAX_REQUIREMENTS,
  unwritable,
} from "../requirements/validation.ts";

/** The CRD's bounds of minValues. */
const MAX_MIN_VALUES = 50;
/** The CRD's patterns. */
const DURATION = /^([0-9]+(s|m|h))+$/;
const TAINT_VALUE = /^(([a-zA-Z0-9]([-a-zA-Z0-9.]*[a-zA-Z0-9])?\/)?([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$/;
const EFFECTS: ReadonlySet<string> = new Set(["NoSchedule", "PreferNoSchedule", "NoExecute"]);
const BOUNDS: ReadonlySet<string> = new Set(["Gt", "Lt", "Gte", "Lte"]);
const DNS_SUBDOMAIN = /^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/;
const MAX_NAME = 253;

/**
 * Why the API server would refuse a NodeClaim, by the rules of its CRD (infra/crds/karpenter.sh_nodeclaims.yaml) and of
 * all objects' metadata; undefined when it would not. A plan is made of what can be written, so a problem here is one
 * that no rule of scheduling knows.
 */
export function nodeClaimProblem({ metadata, spec }: NodeClaim): string | undefined {
  const { name, labels = {}, annotations = {} } = metadata;
  if (name.length > MAX_NAME || !DNS_SUBDOMAIN.test(name)) return `metadata.name "${name.slice(0, MAX_NAME)}" is no name`;
  for (const [key, value] of Object.entries(labels)) {
    if (!isQualifiedName(key)) return `metadata.labels: "${key}" is not a label key`;
    if (!isLabelValue(value)) return `metadata.labels: ${key} has a value that is not a label value`;
  }
  const annotation = Object.keys(annotations).find((key) => !isQualifiedName(key.toLowerCase()));
  if (annotation !== undefined) return `metadata.annotations: "${annotation}" is not an annotation key`;
  if (annotationBytes(annotations) > MAX_ANNOTATION_BYTES) return `metadata.annotations have more than ${MAX_ANNOTATION_BYTES} bytes`;
  if (spec.requirements.length > MAX_REQUIREMENTS)
    return `spec.requirements has ${spec.requirements.length} items, more than ${MAX_REQUIREMENTS}`;
  const own = spec.requirements.map(itemProblem).find((problem) => problem !== undefined);
  if (own !== undefined) return `spec.requirements: ${own}`;
  const taint = [...(spec.taints ?? []), ...(spec.startupTaints ?? [])].find((one) => !isTaint(one));
  if (taint !== undefined) return `spec.taints: the taint ${taint.key}=${taint.value ?? ""}:${taint.effect} is not valid`;
  const { expireAfter = "Never", terminationGracePeriod = "1s" } = spec;
  if (expireAfter !== "Never" && !DURATION.test(expireAfter)) return `spec.expireAfter "${expireAfter}" is no duration`;
  if (!DURATION.test(terminationGracePeriod)) return `spec.terminationGracePeriod "${terminationGracePeriod}" is no duration`;
  return undefined;
}

function itemProblem(item: NodeSelectorRequirementWithMinValues): string | undefined {
  const { key, operator, values = [], minValues } = item;
  // Every NodeClaim asks for its own class; a pod may not.
  const problem = key === NODE_CLASS ? undefined : unwritable(item);
  if (problem !== undefined) return problem;
  if (operator === "In" && values.length === 0) return `${key} with operator In lists no value`;
  if (BOUNDS.has(operator) && (values.length !== 1 || !/^[0-9]+$/.test(values[0] ?? "")))
    return `${key} with operator ${operator} needs one integer`;
  if (minValues === undefined) return undefined;
  if (!Number.isInteger(minValues) || minValues < 1 || minValues > MAX_MIN_VALUES)
    return `${key} has minValues ${minValues}; use 1 to ${MAX_MIN_VALUES}`;
  return operator === "In" && values.length < minValues
    ? `${key} lists ${values.length} values, fewer than its minValues ${minValues}`
    : undefined;
}

function isTaint({ key, value = "", effect }: Taint): boolean {
  return isQualifiedName(key.includes("/") ? key.toLowerCase() : key) && TAINT_VALUE.test(value) && EFFECTS.has(effect);
}
