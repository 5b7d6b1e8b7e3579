import type { Condition } from "./kubernetes.ts";

/** RFC 3339 in whole seconds, as the API server writes times. */
export function rfc3339(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`;
}

/** Milliseconds since the epoch; NaN for a text that is not a time. */
export function fromRfc3339(text: string | undefined): number {
  return text === undefined ? Number.NaN : Date.parse(text);
}

/** The condition of a type; a list holds at most one. */
export function conditionOf(conditions: readonly Condition[] | undefined, type: string): Condition | undefined {
  return conditions?.find((condition) => condition.type === type);
}

/** False when the condition is missing or Unknown. */
export function isTrue(conditions: readonly Condition[] | undefined, type: string): boolean {
  return conditionOf(conditions, type)?.status === "True";
}

/**
 * Conditions of NodePools and EC2NodeClasses that do not count for Ready: a False one is no
 * fault.
 */
export const BESIDE_READY: ReadonlySet<string> = new Set(["Asleep", "Drifted", "NodeRegistrationHealthy"]);

export interface ConditionChange {
  readonly type: string;
  readonly status: Condition["status"];
  /** Default: the type, as in Karpenter's condition library. */
  readonly reason?: string;
  readonly message?: string;
}

/**
 * The conditions after a change. lastTransitionTime changes only with the status; the list keeps the order in which the
 * types first appeared. Returns the same array when nothing changed, so that callers can skip a write.
 */
export function withCondition(
  conditions: readonly Condition[],
  change: ConditionChange,
  at: { readonly now: number; readonly generation?: number },
): readonly Condition[] {
  const old = conditionOf(conditions, change.type);
  const next: Condition = {
    type: change.type,
    status: change.status,
    reason: change.reason ?? change.type,
    message: change.message ?? "",
    lastTransitionTime: old?.status === change.status && old.lastTransitionTime ? old.lastTransitionTime : rfc3339(at.now),
    ...(at.generation === undefined ? {} : { observedGeneration: at.generation }),
  };
  if (old === undefined) return [...conditions, next];
  const same =
    old.status === next.status &&
    old.reason === next.reason &&
    (old.message ?? "") === next.message &&
    (next.observedGeneration === undefined || old.observedGeneration === next.observedGeneration);
  return same ? conditions : conditions.map((condition) => (condition === old ? next : condition));
}

/** The conditions without one type; the same array when the type is absent, so that callers can skip a write. */
export function withoutCondition(conditions: readonly Condition[], type: string): readonly Condition[] {
  return conditions.some((condition) => condition.type === type) ? conditions.filter((condition) => condition.type !== type) : conditions;
}

/**
 * Adds Ready as the AND of its dependents, by the rules of Karpenter's condition library: a missing dependent is added
 * as Unknown/AwaitingReconciliation, and Ready is the last condition of a list that changes.
 */
export function withReady(
  conditions: readonly Condition[],
  dependents: readonly string[],
  at: { readonly now: number; readonly generation?: number },
): readonly Condition[] {
  let next = conditions;
  for (const type of dependents) {
    if (conditionOf(next, type) === undefined) {
      next = withCondition(
        next,
        { type, status: "Unknown", reason: "AwaitingReconciliation", message: "object is awaiting reconciliation" },
        at,
      );
    }
  }
  const unhealthy = dependents.map((type) => conditionOf(next, type)).filter((condition) => condition?.status !== "True");
  const message = unhealthy.map((condition) => `${condition?.type}=${condition?.status}`).join(", ");
  const ready: ConditionChange =
    unhealthy.length === 0
      ? { type: "Ready", status: "True", reason: "Ready" }
      : unhealthy.some((condition) => condition?.status === "False")
        ? { type: "Ready", status: "False", reason: "UnhealthyDependents", message }
        : { type: "Ready", status: "Unknown", reason: "ReconcilingDependents", message };
  const changed = withCondition(next, ready, at);
  // Their order alone is not worth a write: another writer adds conditions behind Ready.
  if (changed === conditions) return conditions;
  return withReadyLast(changed);
}

/** The conditions with Ready as the last one; the same array when it is, or when there is none. */
export function withReadyLast(conditions: readonly Condition[]): readonly Condition[] {
  const root = conditionOf(conditions, "Ready");
  return conditions.at(-1) === root || root === undefined ? conditions : [...conditions.filter((condition) => condition !== root), root];
}
