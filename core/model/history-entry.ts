import type { CommandCandidate, DisruptionReason, TriedInstead } from "./command-record.ts";
import type { CircuitClosed, CircuitOpened, Entry, Paused, Resumed } from "./history-holds.ts";
import type { ResourceList } from "./kubernetes.ts";
import type { ClaimReason } from "./node-claim-record.ts";

/** What every entry about a NodeClaim has. */
interface ClaimEntry extends Entry {
  readonly nodeClaim: string;
  /** Distinguishes two NodeClaims of one name: made from the intentId of the record. */
  readonly intent: string;
  /** "" for a NodeClaim without one. */
  readonly nodePool: string;
}

/** A machine, and what it costs as of its launch. */
export interface HistoryMachine {
  readonly instanceId: string;
  readonly instanceType: string;
  readonly zone: string;
  readonly capacityType: string;
  /** USD of the launched offering when it was launched; absent when it was not known. */
  readonly pricePerHour?: number;
  /** USD at which the same type is on demand there; absent when it was not known. */
  readonly onDemandPerHour?: number;
}

/** One offering that would do. */
export interface HistoryChoice {
  readonly instanceType: string;
  readonly capacityType: string;
  readonly zone: string;
  /** USD. */
  readonly pricePerHour: number;
}

/** A NodeClaim was planned: why there is one more machine, and which it may become. */
export interface Planned extends ClaimEntry {
  readonly type: "Planned";
  /** "provisioned" for pods, or for replicas where there are no pods; else why the nodes go that it replaces. */
  readonly reason: ClaimReason;
  /** The disruption command whose nodes it replaces. */
  readonly commandId?: string;
  /** "namespace/name" of the pods that it is for, the first few hundred. */
  readonly pods: readonly string[];
  readonly podCount: number;
  /** How long the oldest of the pods had existed, ms. */
  readonly waitedMs?: number;
  /** What the pods and the DaemonSets ask for. */
  readonly requests: ResourceList;
  /** The cheapest offering of each of the cheapest types, cheapest first; the first one is the choice. */
  readonly choices: readonly HistoryChoice[];
  /** How many instance types may be launched. */
  readonly typeCount: number;
  /** NodeClaims that the same decision made, this one included. */
  readonly together: number;
  /** Set when it was planned because a commitment pays for such machines on demand. */
  readonly isPaidFor?: true;
}

/** EC2 launched the machine. */
export interface Launched extends ClaimEntry {
  readonly type: "Launched";
  readonly machine: HistoryMachine;
  readonly commandId?: string;
  /** Which launch of the NodeClaim it was, from 1. */
  readonly attempt: number;
}

/** A launch brought no machine. Repeated failures of one NodeClaim with one reason are one entry, the latest. */
export interface LaunchFailed extends ClaimEntry {
  readonly type: "LaunchFailed";
  readonly reason: string;
  readonly message: string;
  /** Offerings without capacity, which the next attempt leaves out. */
  readonly unavailable: readonly { readonly instanceType: string; readonly capacityType: string; readonly zone: string }[];
  readonly attempt: number;
}

/** A NodeClaim that was made by hand, or whose record was lost, got a record. */
export interface Adopted extends ClaimEntry {
  readonly type: "Adopted";
  readonly machine?: HistoryMachine;
  /** When the machine was launched, ms. */
  readonly launchedAt?: number;
}

/** The node joined the cluster. */
export interface Registered extends ClaimEntry {
  readonly type: "Registered";
  readonly node: string;
  /** From the launch, ms. */
  readonly tookMs?: number;
}

/** The node takes pods. */
export interface Initialized extends ClaimEntry {
  readonly type: "Initialized";
  readonly node: string;
  /** From the launch, ms. */
  readonly tookMs?: number;
}

/** A node that a disruption command removes. */
export interface DisruptedNode extends Omit<CommandCandidate, "pods"> {
  readonly podCount: number;
}

/** Nodes go because a disruption command holds: it was decided, and checked again 15 s later. */
export interface Disrupted extends Entry {
  readonly type: "Disrupted";
  readonly commandId: string;
  readonly reason: DisruptionReason;
  readonly method: string;
  readonly decision: "delete" | "replace";
  readonly nodes: readonly DisruptedNode[];
  /** "replace, terminating 1 nodes (3 pods) … and replacing with …": the words of the log and the events. */
  readonly how: string;
  readonly replacements: readonly {
    readonly nodeClaim: string;
    readonly nodePool: string;
    readonly instanceTypes: readonly string[];
    /** USD. */
    readonly pricePerHour: number;
  }[];
  /** "namespace/name" of pods that move to nodes that run already, to the NodeClaim; the first few hundred. */
  readonly moves: readonly (readonly [pod: string, nodeClaim: string])[];
  readonly podCount: number;
  /** USD. */
  readonly savesPerHour: number;
  /** The best few of the other sets, and how many sets were tried in all. */
  readonly tried: readonly TriedInstead[];
  readonly triedCount: number;
}

/** A disruption command was given up: its nodes stay. One for each first node and hour, the latest. */
export interface DisruptionFailed extends Entry {
  readonly type: "DisruptionFailed";
  readonly commandId: string;
  readonly reason: DisruptionReason;
  readonly nodes: readonly DisruptedNode[];
  readonly how: string;
  /** Why, as the log says it. */
  readonly cause: string;
  /** Whether it had begun: nodes were tainted, or replacements launched. */
  readonly hadBegun: boolean;
  /** USD; what the command was to save. */
  readonly savesPerHour: number;
}

/** It was decided that a NodeClaim ends. */
export interface Terminating extends ClaimEntry {
  readonly type: "Terminating";
  readonly node?: string;
  /** The label `reason` of karpenter_nodeclaims_disrupted_total, or "deleted". */
  readonly reason: string;
  /** What is known beyond the reason, as a phrase. */
  readonly detail?: string;
  /** The command that removes it. */
  readonly commandId?: string;
  /** When termination stops to wait for pods, ms. */
  readonly deadline?: number;
  readonly capacityType?: string;
}

/** A NodeClaim that was ending already must end sooner. */
export interface Hastened extends ClaimEntry {
  readonly type: "Hastened";
  readonly node?: string;
  readonly reason: string;
  readonly detail?: string;
  readonly deadline: number;
}

/** The NodeClaim, its node and its machine are gone. */
export interface Removed extends ClaimEntry {
  readonly type: "Removed";
  readonly node?: string;
  /** The reason of Terminating. */
  readonly reason: string;
  readonly terminatingAt: number;
  readonly commandId?: string;
  /** Absent where none was ever launched. */
  readonly machine?: HistoryMachine;
  readonly launchedAt?: number;
}

/** Garbage collection ended a machine that had neither a record nor a NodeClaim. */
export interface Collected extends ClaimEntry {
  readonly type: "Collected";
  readonly machine: HistoryMachine;
  /** ms. */
  readonly launchedAt: number;
}

/**
 * Pods that no plan could place: one for each controller, wait and day (UTC), written again while the wait continues.
 */
export interface PodsWaited extends Entry {
  readonly type: "PodsWaited";
  readonly namespace: string;
  /** "ReplicaSet/web-7d9f", or "Pod/web" for a pod without a controller. */
  readonly owner: string;
  /** The first few of their names. */
  readonly pods: readonly string[];
  readonly podCount: number;
  /** When the first of them began to wait, ms; `at` is when they were last seen waiting. */
  readonly since: number;
  /** Why, the latest last, with when each was first said (ms). */
  readonly reasons: readonly { readonly at: number; readonly text: string }[];
}

/**
 * A plan places pods on a machine that is on its way already, or on a node that runs and that kube-scheduler has not
 * bound them to: what they wait for. Each pod has one entry for each NodeClaim.
 */
export interface PodsNominated extends ClaimEntry {
  readonly type: "PodsNominated";
  /** The Node, once it has joined; always for a node without a NodeClaim, whose `nodeClaim` and `intent` are "". */
  readonly node?: string;
  /** Whether the node takes pods already. */
  readonly isReady: boolean;
  /** "namespace/name" of the pods, the first few hundred. */
  readonly pods: readonly string[];
  readonly podCount: number;
  /** How long the oldest of the pods had existed, ms. */
  readonly waitedMs?: number;
}

/**
 * One thing that was decided or happened, as the history keeps it. Entries are written with the record or command that
 * they are about, in one transaction, so a kill leaves both or neither.
 * @example
 * { type: "Registered", cluster: "prod", at: 1764057600000, nodeClaim: "default-x7k2p", node: "ip-10-0-1-2", … }
 */
export type HistoryEntry =
  | Planned
  | Launched
  | LaunchFailed
  | Adopted
  | Registered
  | Initialized
  | Disrupted
  | DisruptionFailed
  | Terminating
  | Hastened
  | Removed
  | Collected
  | PodsWaited
  | PodsNominated
  | Paused
  | Resumed
  | CircuitOpened
  | CircuitClosed;
