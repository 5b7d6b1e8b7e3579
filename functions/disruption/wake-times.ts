import type { CommandRecord } from "#core/model/command-record.ts";
import { SETTLE_MS, UNTIL_WRITTEN_MS } from "#core/signals/signal.ts";
import type { ClusterDeps } from "../shared/cluster-deps.ts";
import { SWEEP_MS } from "../shared/cluster-entry.ts";

// When disruption passes are made: each costs some eight lists, so that none is made that can decide nothing.

type WakeDeps = Pick<ClusterDeps, "cluster" | "store" | "wakeUps" | "memory" | "now">;

/**
 * Times at which a node may be disrupted are looked at together, at multiples of so many ms: nodes and pods that came
 * together have times that follow each other closely. Karpenter looks each 10 s
 * (karpenter: pkg/controllers/disruption/controller.go, pollingPeriod).
 */
const RASTER_MS = 5_000;

/** When a pass looks at what is due at a time, ms since the epoch. */
export const lookedAt = (dueAt: number): number => Math.ceil(dueAt / RASTER_MS) * RASTER_MS;

/** A pass that was made so long before a sweep, ms, has seen what the sweep would. No benchmark has tuned it. */
const PASS_SERVES_MS = 30_000;

/** Sweeps read definitions anew, and tell of those that cannot be read, so one pass in so many ms does, too. */
const SWEEPS_APART_MS = 1.5 * SWEEP_MS;

/**
 * Notes that everything has been looked at.
 * @param began when the pass began to read, ms since the epoch
 * @param isFresh definitions have been read anew, as by a sweep
 */
export function notePass(began: number, isFresh: boolean, { memory }: Pick<WakeDeps, "memory">): void {
  memory.keep("disruptionPass", began, began, "any");
  if (isFresh) memory.keep("disruptionPass", began, began, "fresh");
}

/** Whether a pass that an event has woken has just done what a sweep would do. */
export function isSweptAlready({ memory, now }: Pick<WakeDeps, "memory" | "now">): boolean {
  const began = (key: "any" | "fresh", maxAgeMs: number) => memory.recall("disruptionPass", now(), { key, maxAgeMs });
  return began("any", PASS_SERVES_MS) !== undefined && began("fresh", SWEEPS_APART_MS) !== undefined;
}

const nextDocument = (cluster: string): string => `disruption-next/${cluster}`;

/**
 * Stores when the next pass is due, ms since the epoch. Under the lease, so that the last pass has the last word.
 * Infinity when only an event or the sweep asks for one.
 */
export async function noteNext(times: readonly number[], { cluster, store }: Pick<WakeDeps, "cluster" | "store">): Promise<void> {
  const version = String(Math.min(...times));
  if ((await store.documentVersion(nextDocument(cluster.name))) === version) return;
  await store.putDocument(nextDocument(cluster.name), new Uint8Array(), version);
}

/** By how much the clocks of two processes may differ, ms. */
const CLOCK_TOLERANCE_MS = 1_000;

/**
 * Whether a time that a pass has asked for has come. Passes that events have woken since have looked at everything, and
 * asked for another time: then a wake-up for an earlier one finds nothing that time has changed.
 */
export async function isDue({ cluster, store, now }: Pick<WakeDeps, "cluster" | "store" | "now">): Promise<boolean> {
  const next = Number((await store.documentVersion(nextDocument(cluster.name))) ?? Number.NaN);
  return Number.isNaN(next) || now() >= next - CLOCK_TOLERANCE_MS;
}

/**
 * Sends one wake-up for the earliest time, unless a sweep comes before it. Several passes may ask for the same second:
 * one wake-up is enough.
 */
export async function sleepUntil(times: readonly number[], { cluster, store, wakeUps, now }: WakeDeps): Promise<void> {
  const at = Math.max(Math.min(...times), now() + 1_000);
  if (at > now() + SWEEPS_APART_MS) return;
  const second = Math.ceil(at / 1_000);
  if (!(await store.isFirstWithin(cluster.name, `disruption-at/${second}`, now(), 2 * SWEEP_MS))) return;
  await wakeUps.wake([{ kind: "disruption", cluster: cluster.name, cause: "Due", delayMs: at - now() }]);
}

/** How long another decision is waited for, ms. */
const PUT_OFF_MS = 2_000;

/** Asks for a pass in the place of one that found another decision under way, which may have read before its cause. */
export async function putOff({ cluster, store, wakeUps, now }: WakeDeps): Promise<void> {
  const second = Math.ceil((now() + PUT_OFF_MS) / 1_000);
  if (!(await store.isFirstWithin(cluster.name, `disruption-put-off/${second}`, now(), 2 * PUT_OFF_MS))) return;
  await wakeUps.wake([{ kind: "disruption", cluster: cluster.name, cause: "PutOff", delayMs: PUT_OFF_MS }]);
}

/**
 * Until when nothing is decided because a command waits for its validation, ms since the epoch: the pass that validates
 * it sees all that has changed. Undefined when there is no such command, and when a command has something left to do.
 * One that waits for its replacements may wait so long, unless one of them is ready.
 */
export function awaitedValidation(commands: readonly CommandRecord[], now: number): number | undefined {
  const validating = commands.filter(({ phase }) => phase === "Validating");
  if (commands.some(({ phase }) => phase === "Deleting" || phase === "RollingBack")) return undefined;
  const dueAt = Math.min(...validating.map((command) => command.dueAt));
  return validating.length > 0 && dueAt > now ? dueAt : undefined;
}

/** How long ago a pass may have begun that has seen what a wake-up tells of that swarms, ms. */
const SWARM_MS = SETTLE_MS - UNTIL_WRITTEN_MS;

/**
 * Whether no pass has been made in this span of time. Each pod that is bound or deleted, and each node that is removed,
 * sends a wake-up of its own; one pass serves all of them, whatever has woken it. No change is missed: a wake-up
 * arrives SETTLE_MS after its change, and the pass that stands for it began less than SWARM_MS before. Of another
 * process's passes the table knows the span in which they were made.
 */
export async function isFirstOfSwarm({
  cluster,
  store,
  memory,
  now,
}: Pick<WakeDeps, "cluster" | "store" | "memory" | "now">): Promise<boolean> {
  const sinceMs = now() - (memory.recall("disruptionPass", now(), { key: "any" }) ?? Number.NEGATIVE_INFINITY);
  if (sinceMs >= 0 && sinceMs < SWARM_MS) return false;
  return store.isFirstWithin(cluster.name, `swarm/${Math.floor(now() / SWARM_MS)}`, now(), 2 * SETTLE_MS);
}
