import { type ConditionChange, conditionOf, withCondition } from "../model/conditions.ts";
import type { NodePool, NodePoolStatus } from "../model/node-pool.ts";

/** How a claim's registration ended: its node was let in, or it was given up. */
export interface RegistrationOutcome {
  readonly claim: string;
  readonly registered: boolean;
  /** Why it was given up, as the pool's condition shall say. */
  readonly reason?: string;
  readonly message?: string;
}

/** Informational: tells whether nodes of this pool come up; it does not keep the pool from being used (nodepool.md §6). */
export const REGISTRATION_HEALTHY = "NodeRegistrationHealthy";

/** Our own annotation: the last outcomes, oldest first, with the generations of pool and class that they are about. */
export const REGISTRATIONS = "karpenter-serverless/registrations";

const KEPT = 4;
/** The divisor is always KEPT, however few outcomes there are. */
const UNHEALTHY_FAILURES = KEPT / 2;

interface Entry {
  readonly claim: string;
  readonly registered: boolean;
}

/** The pool's outcomes under its present generation and its class's; none from before a change of either. */
export function registrationsOf(pool: NodePool): readonly Entry[] {
  const [about, ...entries] = (pool.metadata.annotations?.[REGISTRATIONS] ?? "").split(" ");
  if (about !== generationsOf(pool)) return [];
  return entries.map((entry) => {
    const [claim = "", outcome] = entry.split("=");
    return { claim, registered: outcome === "registered" };
  });
}

/**
 * The pool with one more outcome, in its annotation and its condition; the same pool when it changes nothing. A claim's outcome counts once, however
 * often it is told.
 */
export function withRegistration(pool: NodePool, outcome: RegistrationOutcome, now: number): NodePool {
  const before = registrationsOf(pool);
  const known = before.some(({ claim }) => claim === outcome.claim);
  const steady = outcome.registered && before.length === KEPT && before.every(({ registered }) => registered);
  const entries = known || steady ? before : [...before, outcome].slice(-KEPT);
  const failures = entries.filter(({ registered }) => !registered).length;
  const condition = verdict(pool, outcome, failures >= UNHEALTHY_FAILURES);
  const conditions = pool.status?.conditions ?? [];
  const changed = condition ? withCondition(conditions, condition, { now, ...generation(pool) }) : conditions;
  if (entries === before && changed === conditions) return pool;
  return {
    ...pool,
    metadata: { ...pool.metadata, annotations: { ...pool.metadata.annotations, ...(entries !== before && annotation(pool, entries)) } },
    status: { ...pool.status, conditions: changed },
  };
}

/** A success is told once the pool is healthy with it, a failure once it is not and did not say so yet. */
function verdict(
  { status }: NodePool,
  { registered, reason, message }: RegistrationOutcome,
  unhealthy: boolean,
): ConditionChange | undefined {
  if (registered) return unhealthy ? undefined : { type: REGISTRATION_HEALTHY, status: "True" };
  if (!unhealthy || conditionOf(status?.conditions, REGISTRATION_HEALTHY)?.status === "False") return undefined;
  return {
    type: REGISTRATION_HEALTHY,
    status: "False",
    reason: reason ?? "RegistrationFailed",
    message: message ?? "Failed to register node",
  };
}

/** The status with the condition back at Unknown when pool or class have changed since it was told: what failed before may work now. */
export function withFreshRegistrationHealth(
  pool: NodePool,
  status: NodePoolStatus,
  nodeClassGeneration: number | undefined,
  now: number,
): NodePoolStatus {
  const told = conditionOf(status.conditions, REGISTRATION_HEALTHY);
  const sameClass = nodeClassGeneration === undefined || nodeClassGeneration === status.nodeClassObservedGeneration;
  if (told !== undefined && sameClass && told.observedGeneration === pool.metadata.generation) return status;
  const unknown = {
    type: REGISTRATION_HEALTHY,
    status: "Unknown",
    reason: "AwaitingReconciliation",
    message: "object is awaiting reconciliation",
  } as const;
  return {
    ...status,
    conditions: withCondition(status.conditions ?? [], unknown, { now, ...generation(pool) }),
    ...(nodeClassGeneration !== undefined && { nodeClassObservedGeneration: nodeClassGeneration }),
  };
}

function annotation(pool: NodePool, entries: readonly Entry[]): Readonly<Record<string, string>> {
  const words = entries.map(({ claim, registered }) => `${claim}=${registered ? "registered" : "failed"}`);
  return { [REGISTRATIONS]: [generationsOf(pool), ...words].join(" ") };
}

function generationsOf({ metadata, status }: NodePool): string {
  return `${metadata.generation ?? 0}/${status?.nodeClassObservedGeneration ?? 0}`;
}

function generation({ metadata }: NodePool): { readonly generation?: number } {
  return metadata.generation === undefined ? {} : { generation: metadata.generation };
}
