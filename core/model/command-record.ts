import type { PlannedNodeClaim } from "./plan.ts";

/**
 * Why nodes are disrupted: the reasons that NodePool budgets name, and "Asleep", which their schema does not know: only
 * budgets without reasons count for it.
 */
export type DisruptionReason = "Empty" | "Underutilized" | "Drifted" | "Unhealthy" | "Asleep";

/** A set of nodes that was tried beside the chosen one. */
export interface TriedInstead {
  readonly nodes: readonly string[];
  /** USD; 0 for a set that cannot be removed. */
  readonly savesPerHour: number;
  /** Why it was not chosen, in the words of the events. */
  readonly why: string;
}

/** A node that a command disrupts, as it was when the command was decided. */
export interface CommandCandidate {
  readonly nodeClaim: string;
  readonly node: string;
  readonly nodePool: string;
  readonly instanceType: string;
  readonly capacityType: string;
  readonly zone: string;
  /** USD. */
  readonly pricePerHour: number;
  /** "namespace/name" of the pods that must be rescheduled. */
  readonly pods: readonly string[];
}

/** A fault of a node, and how long its drain may take. */
export interface RepairOf {
  /** Type and reason of the node's condition. */
  readonly condition: string;
  readonly reason: string;
  /** The drain ends after this time, whatever blocks it, ms. */
  readonly drainMs: number;
  /** The node is rebooted, and stays. */
  readonly reboots?: true;
}

/**
 * A disruption command as it is stored, before anything is done. `planDisruption` decides it, `advanceCommand` executes
 * it step by step, and the record is removed at the end.
 *
 *     Validating -> (15 s, still valid) -> Replacing -> (all replacements initialized) -> Deleting -> removed
 *     Replacing -> (a replacement failed) -> RollingBack -> removed
 *
 * A command without replacements skips Replacing.
 */
export interface CommandRecord {
  readonly cluster: string;
  readonly id: string;
  /** Raised by each write; a write names the version that it read. */
  readonly version: number;
  readonly method: "emptiness" | "drift" | "multi" | "single" | "sleep" | "repair" | "expiration";
  readonly reason: DisruptionReason;
  readonly decision: "delete" | "replace";
  readonly candidates: readonly CommandCandidate[];
  readonly replacements: readonly PlannedNodeClaim[];
  /** Pods that move to existing nodes: "namespace/name" to the NodeClaim's name. No other decision uses that room. */
  readonly destinations?: Readonly<Record<string, string>>;
  /** Pods were planned on `destinations` and replacements alone, and not wherever else there is room. */
  readonly onlyDestinations?: boolean;
  /** Names of the replacement NodeClaims, set when they are written. */
  readonly replacementClaims: readonly string[];
  /** What is wrong with the node of a repair. */
  readonly repair?: RepairOf;
  /** Why the node goes before its replacement: there is no room for both. */
  readonly terminateFirst?: "no-reserved-capacity" | "static-at-limit";
  /** USD. */
  readonly savingsPerHour: number;
  /** The best few other sets of nodes that were tried, and how many in all: for the history. */
  readonly tried?: readonly TriedInstead[];
  readonly triedCount?: number;
  readonly phase: "Validating" | "Replacing" | "Deleting" | "RollingBack" | "SetAside";
  /** Why the command cannot be read; only in phase SetAside, which is never stored (read-record.ts). */
  readonly problem?: string;
  /** Version of the record's fields (read-record.ts). */
  readonly schema?: number;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  /** When the phase began, ms since the epoch. */
  readonly since: number;
  /** When the next step is due, ms since the epoch. */
  readonly dueAt: number;
}

/**
 * NodeClaims that commands under way are about to remove: their pods are planned as if pending. A command that is being
 * validated or rolled back does not count, because pods of a node that stays would get a second node.
 */
export function disruptingClaims(commands: readonly CommandRecord[]): ReadonlySet<string> {
  return new Set(executing(commands).flatMap(({ candidates }) => candidates.map(({ nodeClaim }) => nodeClaim)));
}

/** NodeClaims that commands under way count on: their pods move there, or to replacements that they have written. */
export function destinationClaims(commands: readonly CommandRecord[]): ReadonlySet<string> {
  return new Set(
    executing(commands).flatMap(({ destinations = {}, replacementClaims }) => [...Object.values(destinations), ...replacementClaims]),
  );
}

function executing(commands: readonly CommandRecord[]): readonly CommandRecord[] {
  return commands.filter(({ phase }) => phase === "Replacing" || phase === "Deleting");
}
