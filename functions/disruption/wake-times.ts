import { jsonBytes, jsonIn } from "#adapters/store/json-bytes.ts";
import { readDocument } from "#adapters/store/read-document.ts";
import { coversSwarm, type LastPasses, SWARM_MS, SWEEPS_APART_MS } from "#core/passes/check-disruption.ts";
import { SETTLE_MS } from "#core/signals/signal.ts";
import type { ClusterDeps } from "../shared/cluster-deps.ts";
import { SWEEP_MS } from "../shared/cluster-entry.ts";

// When disruption passes were made and when the next one is due: the part of core/passes/check-disruption.ts that is
// kept in this process and in the table.

type WakeDeps = Pick<ClusterDeps, "cluster" | "store" | "wakeUps" | "memory" | "now">;

/**
 * Keeps that everything has been read.
 * @param began when the pass began to read, ms since the epoch
 * @param isFresh definitions have been read again, as by a sweep
 */
export function keepPass(began: number, isFresh: boolean, { memory }: Pick<WakeDeps, "memory">): void {
  memory.keep("disruptionPass", began, began, "any");
  if (isFresh) memory.keep("disruptionPass", began, began, "fresh");
}

export const lastPasses = ({ memory, now }: Pick<WakeDeps, "memory" | "now">): LastPasses => ({
  any: memory.recall("disruptionPass", now(), { key: "any" }),
  fresh: memory.recall("disruptionPass", now(), { key: "fresh" }),
});

const nextDocument = (cluster: string): string => `disruption-next/${cluster}`;

/** When the last pass asked for the next one, ms since the epoch; NaN when it is not known. */
export const readNextPass = async ({ cluster, store }: Pick<WakeDeps, "cluster" | "store">): Promise<number> =>
  Number((await store.documentVersion(nextDocument(cluster.name))) ?? Number.NaN);

/** What a pass stores for the next one. */
export interface NextPass {
  /** When it is due, ms since the epoch; Infinity when only an event or the sweep asks for it. */
  readonly at: number;
  /** NodePools that SingleNodeConsolidation had no time for: they come first in the next pass. */
  readonly unseenPools: readonly string[];
}

/** What the last pass stored; undefined before the first one. */
export async function readLastPass(deps: Pick<WakeDeps, "cluster" | "store">): Promise<NextPass | undefined> {
  const reading = { name: nextDocument(deps.cluster.name), what: "What the last disruption pass left", parse: unseenIn };
  const found = await readDocument(deps, reading);
  return found && { at: Number(found.version), unseenPools: found.value };
}

/** The names are a JSON list; version 0.1.0 writes no bytes. */
function unseenIn(bytes: Uint8Array): readonly string[] | undefined {
  if (bytes.length === 0) return [];
  const names: unknown = jsonIn(bytes);
  return Array.isArray(names) && names.every((name) => typeof name === "string") ? names : undefined;
}

/**
 * Stores when the next pass is due and what it is to begin with, where that differs from the last pass. Under the
 * lease, so that the last pass has the last word.
 */
export async function writeNextPass(
  { at, unseenPools }: NextPass,
  last: NextPass | undefined,
  { cluster, store }: Pick<WakeDeps, "cluster" | "store">,
): Promise<void> {
  const names = JSON.stringify(unseenPools);
  if (last?.at === at && JSON.stringify(last.unseenPools) === names) return;
  const bytes = unseenPools.length === 0 ? new Uint8Array() : jsonBytes(unseenPools);
  await store.putDocument(nextDocument(cluster.name), bytes, String(at));
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

/** Whether no pass of any process has claimed the present span of SWARM_MS, which this call claims. */
export const claimSpan = ({ cluster, store, now }: Pick<WakeDeps, "cluster" | "store" | "now">): Promise<boolean> =>
  store.isFirstWithin(cluster.name, `swarm/${Math.floor(now() / SWARM_MS)}`, now(), 2 * SETTLE_MS);

/** Records a pass, so that wake-ups of pods and nodes that are still in the queue are skipped. */
export async function recordPass(deps: Pick<WakeDeps, "cluster" | "store" | "memory" | "now">): Promise<void> {
  if (!coversSwarm(lastPasses(deps), deps.now())) await claimSpan(deps);
}
