import type { NodeClaimRecord, WaitsFor } from "#core/model/node-claim-record.ts";
import { MIN_DELAY_MS } from "#core/passes/claim-check.ts";
import type { WakeUp } from "#core/ports/wake-ups.ts";
import type { LifecycleDeps } from "../shared/cluster-deps.ts";
import { ignoreConflict, retryOnConflict } from "../shared/optimistic.ts";

/** Reconciles whose next steps are due within this time of each other differ by their milliseconds. */
const SAME_MOMENT_MS = 100;

/** Writes of the time of the next step; the second is decided from a new read. */
const MAX_TRIES = 2;

/** When the next step of a NodeClaim is due, ms since the epoch, and what it waits for until then. */
interface Due {
  readonly wakeAt: number;
  /** Polls before that, ms since the epoch. */
  readonly polls?: readonly number[] | undefined;
  readonly waitsFor?: WaitsFor | undefined;
}

/**
 * Requeues a NodeClaim. The wake-up is sent before the record says so: a kill between the two leaves the record
 * overdue, and the sweep finds it. The wake-up carries the time that it is for, so that of several chains of wake-ups
 * for one NodeClaim only the last continues.
 * @param known the record, if it has been read
 */
export async function requeueAt(
  { wakeAt, polls = [], waitsFor }: Due,
  name: string,
  known: NodeClaimRecord | undefined,
  deps: LifecycleDeps,
): Promise<void> {
  const { cluster, store, wakeUps } = deps;
  const record = known ?? (await store.get(cluster.name, name));
  if (record === undefined) return;
  // A wait for a fixed time is written again with it. Its earlier polls must end then, or their number would grow.
  let dueAt = polls.length > 0 && isSameMoment(record.dueAt, wakeAt) ? record.dueAt + 1 : wakeAt;
  let isWritten = false;
  const send = (): Promise<void> => wakeUps.wake([wakeUpAt({ wakeAt, dueAt }, name, deps)]);
  await send();
  // Some writes of a record send no wake-up, such as the times of pods. When another reconcile has written it since,
  // that one also requeues the NodeClaim, and the wake-up of one of them will be dropped.
  let latest: NodeClaimRecord | undefined = record;
  const write = async (): Promise<void> => {
    const isRetry = latest === undefined;
    latest ??= await store.get(cluster.name, name);
    const written = latest;
    latest = undefined;
    if (written === undefined) return;
    if (isRetry && isSameMoment(written.dueAt, dueAt)) {
      // With two equal times both chains would continue, because their wake-ups are equal.
      dueAt = written.dueAt + 1;
      await send();
    }
    const { waits: _, ...rest } = written;
    await store.update({ ...rest, dueAt, ...(waitsFor && { waits: { for: waitsFor, dueAt } }) });
    isWritten = true;
  };
  await ignoreConflict(retryOnConflict(MAX_TRIES, write));
  // Only the reconcile that wrote the time sends its polls. Each of several at one moment would send all of them, and
  // each poll can begin another reconcile.
  if (isWritten && polls.length > 0)
    await wakeUps.wake(polls.map((at): WakeUp => ({ ...wakeUpAt({ wakeAt: at, dueAt }, name, deps), isPoll: true })));
}

const isSameMoment = (written: number, dueAt: number): boolean => written >= dueAt && written < dueAt + SAME_MOMENT_MS;

/** The wake-up of a NodeClaim at `wakeAt` for the step that is due at `dueAt`, ms since the epoch. */
export function wakeUpAt(
  { wakeAt, dueAt }: { readonly wakeAt: number; readonly dueAt: number },
  claim: string,
  { cluster, now }: Pick<LifecycleDeps, "cluster" | "now">,
): Extract<WakeUp, { readonly kind: "claim" }> {
  return { kind: "claim", cluster: cluster.name, claim, delayMs: Math.max(wakeAt - now(), MIN_DELAY_MS), dueAt };
}
