import type { PlannedNodeClaim } from "./plan.ts";

export type DisruptionReason = "Empty" | "Underutilized" | "Drifted";

export interface CommandCandidate {
  readonly nodeClaim: string;
  readonly node: string;
  readonly nodePool: string;
  readonly instanceType: string;
  readonly capacityType: string;
  readonly zone: string;
  readonly pricePerHour: number;
  /** "namespace/name" of the pods that must be rescheduled. */
  readonly pods: readonly string[];
}

/**
 * A disruption command. It is written before its first effect.
 * Validating → (15 s later it is still right) → Replacing → (all replacements are initialized) → Deleting → removed,
 * or RollingBack when a replacement fails.
 */
export interface CommandRecord {
  readonly cluster: string;
  readonly id: string;
  readonly version: number;
  readonly method: "emptiness" | "drift" | "multi" | "single" | "expiration";
  readonly reason: DisruptionReason;
  readonly decision: "delete" | "replace";
  readonly candidates: readonly CommandCandidate[];
  readonly replacements: readonly PlannedNodeClaim[];
  /**
   * "namespace/name" of a pod to the NodeClaim whose existing node has room for it. No other command may use that room.
   */
  readonly destinations?: Readonly<Record<string, string>>;
  /** Names of the replacement NodeClaims, set when they are written. */
  readonly replacementClaims: readonly string[];
  readonly savingsPerHour: number;
  readonly phase: "Validating" | "Replacing" | "Deleting" | "RollingBack";
  readonly createdAt: number;
  /** When the phase was entered, ms. */
  readonly since: number;
  readonly dueAt: number;
}
