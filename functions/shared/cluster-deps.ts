// What several functions share: the deps of a cluster, entries, the cluster state that decisions read, and writes that
// more than one function makes (leases, terminations, events). In: ports. Out: effects on them. Nothing here imports a
// function's folder or wiring/, or chooses an adapter.

import type { ManagedKubernetes } from "#adapters/kubernetes/managed-objects.ts";
import type { ClusterFacts } from "#core/launch/user-data-input.ts";
import type { Catalogue } from "#core/offerings/catalogue.ts";
import type { Announcements } from "#core/ports/announcements.ts";
import type { Fleet } from "#core/ports/fleet.ts";
import type { Log } from "#core/ports/log.ts";
import type { Metrics } from "#core/ports/metrics.ts";
import type { NodeClaimStore } from "#core/ports/node-claim-store.ts";
import type { WakeUps } from "#core/ports/wake-ups.ts";
import type { Config } from "#settings/config.ts";
import type { ProcessMemory } from "./process-memory.ts";

/** The settings that decisions are made by: the rows of settings/setting-table.ts that decisions read. */
export type Settings = Config["settings"];

/**
 * Does `work` once after `ms`, while the invocation runs. The function that is returned cancels it. `work` must not
 * throw or reject.
 */
export type Later = (ms: number, work: () => void | Promise<void>) => () => void;

/** The ports and facts of one cluster: all that a handler may reach. Each handler names the part that it uses. */
export interface ClusterDeps {
  readonly cluster: ClusterFacts;
  /** Twelve digits: the account of the cluster, when it is not the account of the functions. */
  readonly account?: string;
  /** What another controller serves is hidden, and cannot be written. */
  readonly kubernetes: ManagedKubernetes;
  readonly store: NodeClaimStore;
  readonly wakeUps: WakeUps;
  readonly catalogue: () => Promise<Catalogue>;
  readonly log: Log;
  readonly metrics: Metrics;
  /** Where events of the log are announced (announce.ts). */
  readonly announcements: Announcements;
  readonly settings: Settings;
  /** What this process remembers of the cluster. */
  readonly memory: ProcessMemory;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Waits within an invocation: for moments that are shorter than the way over a queue. */
  readonly sleep: (ms: number) => Promise<unknown>;
  readonly later: Later;
  /** Random, unique. */
  readonly newId: () => string;
  /** Whether the webhook or the audit log reports what changes in the cluster, so that polling may be rarer. */
  readonly hasEventSource?: boolean;
  /** The cluster is being taken from the stack: its nodes are drained, and nothing new is decided. */
  readonly isLeaving?: boolean;
  /** One memory for all messages of an invocation, which end together when it is killed; absent for a schedule. */
  readonly invocation?: ProcessMemory;
}

/**
 * Only the lifecycle reaches instances: a function that plans cannot launch, and the function that launches does not
 * plan.
 */
export interface LifecycleDeps extends ClusterDeps {
  readonly fleet: Fleet;
}
