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
  /** "namespace/name" of the pods that must move. */
  readonly pods: readonly string[];
}

/**
 * A disruption decision, written before anything is done about it.
 * Validating → (15 s, still right) → Replacing → (all replacements initialized) → Deleting → gone; or rolled back.
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
  /** "namespace/name" of pods that are meant for nodes that stay, to the names of their NodeClaims: nobody else is promised that room. */
  readonly destinations?: Readonly<Record<string, string>>;
  /** Names of the replacement claims, set when they are written. */
  readonly replacementClaims: readonly string[];
  readonly savingsPerHour: number;
  readonly phase: "Validating" | "Replacing" | "Deleting" | "RollingBack";
  readonly createdAt: number;
  /** When the phase was entered, ms. */
  readonly since: number;
  readonly dueAt: number;
}

/**
 * NodeClaims that commands under way are about to remove: their pods are planned as if pending. A command that is being
 * validated or rolled back does not count, because pods of a node that stays would get a second node.
 */
export function disruptingClaims(commands: readonly CommandRecord[]): ReadonlySet<string> {
  const removing = commands.filter(({ phase }) => phase === "Replacing" || phase === "Deleting");
  return new Set(removing.flatMap(({ candidates }) => candidates.map(({ nodeClaim }) => nodeClaim)));
}
