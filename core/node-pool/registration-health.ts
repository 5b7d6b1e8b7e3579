import { type ConditionChange, conditionOf, withCondition } from "../model/conditions.ts";
import type { NodePool, NodePoolStatus } from "../model/node-pool.ts";

/** How a NodeClaim's registration ended: its node registered, or the NodeClaim timed out. */
export interface RegistrationOutcome {
  readonly claim: string;
  readonly registered: boolean;
  /** Why it failed, for the NodePool's condition. */
  readonly reason?: string;
  readonly message?: string;
}

/**
 * Informational: whether nodes of this NodePool register; it does not stop the NodePool's use
 * (karpenter: pkg/apis/v1/nodepool_status.go, ConditionTypeNodeRegistrationHealthy).
 */
export const REGISTRATION_HEALTHY = "NodeRegistrationHealthy";

/**
 * Our own annotation: the last outcomes, oldest first, with the generations of NodePool and NodeClass that they belong
 * to.
 */
export const REGISTRATIONS = "karpenter-serverless/registrations";

/** Karpenter's number of outcomes that decide. */
const MAX_OUTCOMES = 4;
/**
 * Always a share of MAX_OUTCOMES, also while fewer outcomes are known
 * (karpenter: pkg/state/nodepoolhealth/tracker.go, Tracker.Status).
 */
const MIN_UNHEALTHY_FAILURES = MAX_OUTCOMES / 2;

interface Entry {
  readonly claim: string;
  readonly registered: boolean;
}

/**
 * The outcomes under the current generations of NodePool and NodeClass; outcomes of earlier generations do not count.
 */
export function registrationsOf(pool: NodePool): readonly Entry[] {
  const [about, ...entries] = (pool.metadata.annotations?.[REGISTRATIONS] ?? "").split(" ");
  if (about !== generationsOf(pool)) return [];
  return entries.map((entry) => {
    const [claim = "", outcome] = entry.split("=");
    return { claim, registered: outcome === "registered" };
  });
}

/**
 * The NodePool with one more outcome, in its annotation and its condition; the same NodePool when nothing changes. The
 * outcome of a NodeClaim counts once, however often it is reported.
 */
export function withRegistration(pool: NodePool, outcome: RegistrationOutcome, now: number): NodePool {
  const before = registrationsOf(pool);
  const known = before.some(({ claim }) => claim === outcome.claim);
  // Successes before the first failure do not change how many of the last outcomes are failures.
  const steady = outcome.registered && before.every(({ registered }) => registered);
  const entries = known || steady ? before : [...before, outcome].slice(-MAX_OUTCOMES);
  const failures = entries.filter(({ registered }) => !registered).length;
  const condition = verdict(pool, outcome, failures >= MIN_UNHEALTHY_FAILURES);
  const conditions = pool.status?.conditions ?? [];
  const changed = condition ? withCondition(conditions, condition, { now, ...generation(pool) }) : conditions;
  if (entries === before && changed === conditions) return pool;
  return {
    ...pool,
    ...(entries !== before && {
      metadata: { ...pool.metadata, annotations: { ...pool.metadata.annotations, ...annotation(pool, entries) } },
    }),
    status: { ...pool.status, conditions: changed },
  };
}

/** Whether a further success changes nothing: the NodePool is healthy, and no failure is remembered. */
export const isSteady = (pool: NodePool): boolean =>
  conditionOf(pool.status?.conditions, REGISTRATION_HEALTHY)?.status === "True" &&
  registrationsOf(pool).every(({ registered }) => registered);

/**
 * A success is reported when the NodePool is healthy with it, a failure when the NodePool is unhealthy and its
 * condition does not say so yet.
 */
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

/**
 * The status with the condition reset to Unknown when NodePool or NodeClass have changed since it was set, because what
 * failed before may work now.
 */
export function withFreshRegistrationHealth(
  pool: NodePool,
  status: NodePoolStatus,
  nodeClassGeneration: number | undefined,
  now: number,
): NodePoolStatus {
  const current = conditionOf(status.conditions, REGISTRATION_HEALTHY);
  const sameClass = nodeClassGeneration === undefined || nodeClassGeneration === status.nodeClassObservedGeneration;
  if (current !== undefined && sameClass && current.observedGeneration === pool.metadata.generation) return status;
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

/** What a NodePool's outcomes are of: another NodePool or EC2NodeClass may do better. */
export function generationsOf({ metadata, status }: NodePool): string {
  return `${metadata.generation ?? 0}/${status?.nodeClassObservedGeneration ?? 0}`;
}

function generation({ metadata }: NodePool): { readonly generation?: number } {
  return metadata.generation === undefined ? {} : { generation: metadata.generation };
}
