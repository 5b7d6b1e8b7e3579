import { isJsonObject, type JsonObject } from "../../lib/json.ts";
import { nearest } from "../../lib/nearest.ts";
import type { TopologySpreadConstraint } from "../../model/pod.ts";
import { isQualifiedName } from "../../requirements/validation.ts";

/**
 * The part of kube-scheduler's configuration that plans must follow: the setting SCHEDULER_CONFIG (docs/settings.md).
 */
export interface SchedulerConfig {
  /** Topology spread constraints for pods that have none of their own. */
  readonly defaultConstraints: readonly TopologySpreadConstraint[];
}

const CONSTRAINT_FIELDS = ["maxSkew", "topologyKey", "whenUnsatisfiable", "minDomains", "nodeAffinityPolicy", "nodeTaintsPolicy"];

/**
 * Reads `{podTopologySpread: {defaultConstraints: [...]}}` by kube-scheduler's rules; `problem` is one sentence about
 * the first error. An unknown field is an error, because it would have no effect.
 */
export function readSchedulerConfig(value: unknown): SchedulerConfig | { readonly problem: string } {
  const constraints: TopologySpreadConstraint[] = [];
  const problem = configProblem(value, constraints);
  return problem === undefined ? { defaultConstraints: constraints } : { problem };
}

/** The first error; appends the valid constraints before it to `found`. */
function configProblem(value: unknown, found: TopologySpreadConstraint[]): string | undefined {
  if (!isJsonObject(value)) return "must be a map with podTopologySpread";
  const unknown = unknownField(value, ["podTopologySpread"], "");
  if (unknown !== undefined) return unknown;
  const { podTopologySpread: spread = {} } = value;
  if (!isJsonObject(spread)) return "podTopologySpread must be a map with defaultConstraints";
  const stray = unknownField(spread, ["defaultConstraints"], "podTopologySpread.");
  if (stray !== undefined) return stray;
  const { defaultConstraints: list = [] } = spread;
  if (!Array.isArray(list)) return "podTopologySpread.defaultConstraints must be a list";
  for (const [i, item] of list.entries()) {
    const path = `podTopologySpread.defaultConstraints[${i}]`;
    const wrong = constraintProblem(item);
    if (wrong !== undefined) return `${path}${wrong}`;
    const constraint = item as TopologySpreadConstraint;
    const { topologyKey, whenUnsatisfiable } = constraint;
    if (found.some((other) => other.topologyKey === topologyKey && other.whenUnsatisfiable === whenUnsatisfiable))
      return `${path} is a second one for ${topologyKey} and ${whenUnsatisfiable}; leave one of them out`;
    found.push(constraint);
  }
  return undefined;
}

/** The first error of a constraint, as the rest of a sentence that begins with the constraint's path. */
function constraintProblem(item: unknown): string | undefined {
  if (!isJsonObject(item)) return " must be a map";
  if (item["labelSelector"] !== undefined) return ".labelSelector must be left out: it is deduced for each pod";
  if (item["matchLabelKeys"] !== undefined) return ".matchLabelKeys must be left out: it has no effect on default constraints";
  const unknown = unknownField(item, CONSTRAINT_FIELDS, ".");
  if (unknown !== undefined) return unknown;
  const { maxSkew, topologyKey, whenUnsatisfiable, minDomains = 1 } = item;
  if (!isAboveZero(maxSkew)) return `.maxSkew must be a whole number above 0, not ${JSON.stringify(maxSkew)}`;
  if (typeof topologyKey !== "string" || !isQualifiedName(topologyKey))
    return `.topologyKey must be a label key such as topology.kubernetes.io/zone, not ${JSON.stringify(topologyKey)}`;
  if (whenUnsatisfiable !== "DoNotSchedule" && whenUnsatisfiable !== "ScheduleAnyway")
    return `.whenUnsatisfiable must be DoNotSchedule or ScheduleAnyway, not ${JSON.stringify(whenUnsatisfiable)}`;
  if (!isAboveZero(minDomains)) return `.minDomains must be a whole number above 0, not ${JSON.stringify(minDomains)}`;
  for (const field of ["nodeAffinityPolicy", "nodeTaintsPolicy"]) {
    const { [field]: policy = "Honor" } = item;
    if (policy !== "Honor" && policy !== "Ignore") return `.${field} must be Honor or Ignore, not ${JSON.stringify(policy)}`;
  }
  return undefined;
}

function unknownField(value: JsonObject, known: readonly string[], path: string): string | undefined {
  const field = Object.keys(value).find((name) => !known.includes(name));
  if (field === undefined) return undefined;
  const near = nearest(field, known);
  return `${path}${field} is not known${near === undefined ? `; there is ${known.join(", ")}` : `; did you mean ${near}?`}`;
}

function isAboveZero(value: unknown): boolean {
  return Number.isInteger(value) && Number(value) > 0;
}
