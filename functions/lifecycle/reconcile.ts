import { LruMap } from "#core/lib/lru-map.ts";
import type { ClaimView, Step } from "#core/lifecycle/action.ts";
import { advance } from "#core/lifecycle/advance.ts";
import type { NodeClaimRecord, WaitsFor } from "#core/model/node-claim-record.ts";
import { ConflictError, NotFoundError, ThrottledError, UnreadableRecordError } from "#core/ports/errors.ts";
import type { WakeUp } from "#core/ports/wake-ups.ts";
import { UNTIL_WRITTEN_MS } from "#core/signals/signal.ts";
import type { LifecycleDeps } from "../shared/cluster-deps.ts";
import { ignoreConflict, retryOnConflict } from "../shared/optimistic.ts";
import type { Known, OtherPass } from "./known.ts";
import { claimLogFields } from "./log-fields.ts";
import { lookFor } from "./look.ts";
import { perform } from "./perform.ts";
import { readAsked, readView, seenIn } from "./view.ts";

/**
 * A NodeClaim takes about ten steps from launch to removal; conflicts with kubelets and users add some. The next
 * wake-up continues where this ends.
 */
const MAX_STEPS = 25;

/** Wait after a write that was refused. No benchmark has tuned it. */
const REFUSED_RETRY_MS = 30_000;

/** A wake-up that arrives before its time is in the record would be dropped as one of another chain. */
const MIN_DELAY_MS = 1_000;

/** NodeClaims of a cluster whose next look is remembered: as many as may wait at the same time. */
const MAX_WAITING = 10_000;

/**
 * The next look that this process has sent a wake-up for, by NodeClaim. Keyed by the cluster's facts object, which
 * lives as long as the process serves the cluster.
 */
const nextLooks = new WeakMap<object, LruMap<string, { readonly dueAt: number; readonly wakeAt: number }>>();

function nextLooksOf({ cluster }: Pick<LifecycleDeps, "cluster">) {
  const known = nextLooks.get(cluster) ?? new LruMap<string, { readonly dueAt: number; readonly wakeAt: number }>(MAX_WAITING);
  nextLooks.set(cluster, known);
  return known;
}

/**
 * Whether the look that a wake-up asks for has been made, and the next one is still to come: the wake-up was delivered
 * twice. Nothing is written between looks, so each extra one would begin a chain of its own, which doubles again.
 */
function isRepeated(name: string, dueAt: number, deps: LifecycleDeps): boolean {
  const next = nextLooksOf(deps).get(name);
  return next?.dueAt === dueAt && deps.now() < next.wakeAt - MIN_DELAY_MS;
}

/** What a wake-up for a NodeClaim says of its cause. */
export type ClaimCause = Pick<Extract<WakeUp, { readonly kind: "claim" }>, "dueAt" | "about"> & {
  /** When it was sent, ms since the epoch. */
  readonly sentAt?: number;
};

/**
 * Reconciles one NodeClaim: takes it as far as it can go now, and sends a wake-up for when the next step is due. It may
 * run twice, late, or at the same time as another run, and be killed at any line, because each step is decided from
 * what is read again. `core/lifecycle/advance.ts` decides the steps.
 *
 * With the `dueAt` of its wake-up, a record that is due at another time has been reconciled by another run since, and
 * is left alone. When the time has come, or the node has changed, and what the NodeClaim waits for has not come, that
 * is all: the next look has a wake-up of the same chain, and nothing is written.
 */
export function reconcileClaim(name: string, cause: ClaimCause, deps: LifecycleDeps): Promise<void> {
  return endedWell(name, () => lookAndAdvance(name, cause, deps), deps);
}

async function lookAndAdvance(name: string, { dueAt, about, sentAt = Number.NaN }: ClaimCause, deps: LifecycleDeps): Promise<void> {
  // The record alone says whether another chain of wake-ups looks after the NodeClaim.
  const record = dueAt === undefined && about === undefined ? undefined : await deps.store.get(deps.cluster.name, name);
  // The NodeClaim of a record that is gone is done with, or for the sweep to adopt.
  if (dueAt !== undefined && (record?.dueAt !== dueAt || isRepeated(name, dueAt, deps))) return;
  // A held node is not registered before it is Ready, which is told, too.
  if (about === "new-node" && record?.heldFor !== undefined) return;
  // The pass that has initialized the node has written it after what is told: another has opened it with its own.
  if (about !== undefined && record?.initializedAt !== undefined && sentAt <= record.initializedAt) return;
  let look = record === undefined ? {} : await lookFor(record, dueAt === undefined, deps);
  if (record !== undefined && dueAt === undefined && look.wakeAt !== undefined && !look.isSeen) {
    await deps.sleep(UNTIL_WRITTEN_MS);
    look = await lookFor(record, true, deps);
  }
  if (look.wakeAt === undefined) return advanceFully(name, { ...(record && { record }), ...look.known }, deps);
  if (record === undefined || (dueAt === undefined && !look.isTaken)) return;
  await deps.wakeUps.wake([wakeUpAt(look.wakeAt, record.dueAt, name, deps)]);
  nextLooksOf(deps).set(name, { dueAt: record.dueAt, wakeAt: look.wakeAt });
}

/** Does the work of a pass, and ends it where EC2 or the record forbids to go on. */
async function endedWell(name: string, work: () => Promise<void>, deps: LifecycleDeps): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (error instanceof ThrottledError && error.retryAfterMs !== undefined) return await putOff(name, error.retryAfterMs, deps);
    unreadable(error, name, deps);
  }
}

/**
 * Ends the pass of a NodeClaim for which EC2 would have to be asked, and may not be yet: waiting here would use up the
 * time of the invocation.
 */
async function putOff(name: string, retryAfterMs: number, deps: LifecycleDeps): Promise<void> {
  const record = await deps.store.get(deps.cluster.name, name);
  if (record === undefined) return;
  const wakeAt = deps.now() + retryAfterMs;
  deps.log.debug("waiting for EC2's request limit", { ...claimLogFields(name), seconds: Math.ceil(retryAfterMs / 1_000) });
  await sleepUntil({ wakeAt }, name, { record: { ...record, ...putOffAt(deps.now(), wakeAt, record) } }, deps);
}

/** What a record says of a launch that is put off: a stored request has not been sent before its next turn. */
function putOffAt(now: number, wakeAt: number, { instance, terminating, launch }: NodeClaimRecord): Partial<NodeClaimRecord> {
  if (instance !== undefined || terminating !== undefined) return {};
  return { launchPutOffAt: now, ...(launch && { launchRequestedAt: wakeAt }) };
}

/** Takes a NodeClaim as far as it can go, and after it the others whose steps were taken with its own. */
async function advanceFully(name: string, first: Known, deps: LifecycleDeps): Promise<void> {
  const others = await advanceOne(name, first, deps);
  const passes = others.map((other) => endedWell(other.name, () => advanceFully(other.name, other.known, deps), deps));
  await Promise.all(passes);
}

async function advanceOne(name: string, first: Known, deps: LifecycleDeps): Promise<readonly OtherPass[]> {
  const others: OtherPass[] = [];
  let known = first;
  for (let steps = 0; steps < MAX_STEPS; steps++) {
    const { step, view } = await decide(await readView(name, deps, known), deps);
    const outcome = await performAll(step, name, seenIn(view, known), deps);
    known = outcome.known;
    others.push(...(outcome.others ?? []));
    if (outcome.ending === "later") {
      await sleepUntil({ wakeAt: deps.now() + REFUSED_RETRY_MS }, name, known, deps);
      return others;
    }
    if (outcome.ending === "done" && !step.again) {
      const { wakeAt, waitsFor } = step;
      if (wakeAt !== undefined) await sleepUntil({ wakeAt, ...(waitsFor && { waitsFor }) }, name, known, deps);
      return others;
    }
  }
  await sleepUntil({ wakeAt: deps.now() + 1_000 }, name, known, deps);
  return others;
}

/** The next step, and the view with the parts that were read for it. */
async function decide(first: ClaimView, deps: LifecycleDeps): Promise<{ readonly step: Step; readonly view: ClaimView }> {
  let view = first;
  for (;;) {
    const step = advance(view);
    if (step.ask === undefined) return { step, view };
    view = { ...view, ...(await readAsked(step.ask, view, deps)) };
  }
}

/** Ends the pass of a NodeClaim whose record cannot be read: it is for the version that wrote it. */
function unreadable(error: unknown, name: string, { log }: LifecycleDeps): void {
  if (!(error instanceof UnreadableRecordError)) throw error;
  log.error("record cannot be read", { ...claimLogFields(name), error: error.message });
}

interface Outcome {
  readonly ending: "done" | "look again" | "later";
  readonly known: Known;
  readonly others?: readonly OtherPass[];
}

/**
 * "look again", with nothing known, when another has changed or removed what was about to be written: the next step is
 * then decided from what is there now.
 */
async function performAll(step: Step, name: string, seen: Known, deps: LifecycleDeps): Promise<Outcome> {
  let known = seen;
  try {
    for (const action of step.actions) {
      const performed = await perform(action, name, known, deps);
      if (typeof performed === "function") known = performed(known);
      else if (typeof performed === "object") {
        const { lookAgainWith, others = [] } = performed;
        return { ending: "look again", known: lookAgainWith, others };
      } else if (performed !== "done") return { ending: performed, known: {} };
    }
    return { ending: "done", known };
  } catch (error) {
    if (error instanceof ConflictError || error instanceof NotFoundError) return { ending: "look again", known: { isContested: true } };
    throw error;
  }
}

/**
 * The wake-up is sent before the record says so: a kill between the two leaves the record overdue, and the sweep finds
 * it. The wake-up carries the time that it is for, so that of several chains of wake-ups for one NodeClaim only the
 * last continues.
 */
async function sleepUntil(
  { wakeAt: at, waitsFor }: { readonly wakeAt: number; readonly waitsFor?: WaitsFor },
  name: string,
  known: Known,
  deps: LifecycleDeps,
): Promise<void> {
  const { cluster, store, wakeUps } = deps;
  const record = known.record ?? (await store.get(cluster.name, name));
  if (record === undefined) return;
  let dueAt = at;
  await wakeUps.wake([wakeUpAt(at, dueAt, name, deps)]);
  // Others write records without a wake-up, such as the times of pods. If another run of this kind has written it
  // since, that run looks after the NodeClaim, too, and the wake-up of one of them will be dropped.
  let latest: NodeClaimRecord | undefined = record;
  const write = async (): Promise<void> => {
    const isAgain = latest === undefined;
    latest ??= await store.get(cluster.name, name);
    const written = latest;
    latest = undefined;
    if (written === undefined) return;
    if (isAgain && written.dueAt >= dueAt && written.dueAt < dueAt + SAME_MOMENT_MS) {
      // Two runs of the same moment would both go on: neither wake-up could be told from the other.
      dueAt = written.dueAt + 1;
      await wakeUps.wake([wakeUpAt(at, dueAt, name, deps)]);
    }
    const { waits: _, ...rest } = written;
    await store.update({ ...rest, dueAt, ...(waitsFor && { waits: { for: waitsFor, dueAt } }) });
  };
  await ignoreConflict(retryOnConflict(SLEEP_TRIES, write));
}

function wakeUpAt(at: number, dueAt: number, claim: string, { cluster, now }: Pick<LifecycleDeps, "cluster" | "now">): WakeUp {
  return { kind: "claim", cluster: cluster.name, claim, delayMs: Math.max(at - now(), MIN_DELAY_MS), dueAt };
}

/** Runs whose next steps are due within this time of each other are told apart by their milliseconds. */
const SAME_MOMENT_MS = 100;

/** Writes of the time of the next step; the second is decided from a new read. */
const SLEEP_TRIES = 2;
