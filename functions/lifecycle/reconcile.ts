import type { ClaimView, Step } from "#core/lifecycle/action.ts";
import { advance } from "#core/lifecycle/advance.ts";
import { claimLogFields } from "#core/lifecycle/log-fields.ts";
import type { NodeClaimRecord } from "#core/model/node-claim-record.ts";
import { type ClaimCause, claimPass, isCheckable } from "#core/passes/claim-check.ts";
import { ConflictError, NotFoundError, ThrottledError, UnreadableRecordError } from "#core/ports/errors.ts";
import { UNTIL_WRITTEN_MS } from "#core/signals/signal.ts";
import type { LifecycleDeps } from "../shared/cluster-deps.ts";
import { checkWait } from "./check.ts";
import type { ActionContext, ClaimState, OtherClaim, Performed } from "./claim-state.ts";
import { perform } from "./perform.ts";
import { requeueAt, wakeUpAt } from "./schedule.ts";
import { readAsked, readView, seenIn } from "./view.ts";

/**
 * A NodeClaim takes about ten steps from launch to removal; conflicts with kubelets and users add some. The next
 * wake-up continues where this ends.
 */
const MAX_STEPS = 25;

/** Wait after MAX_STEPS. No benchmark has tuned it. */
const NEXT_STEPS_MS = 1_000;

/** Wait after a write that was refused. No benchmark has tuned it. */
const REFUSED_RETRY_MS = 30_000;

/**
 * Reconciles one NodeClaim: takes it as far as it can go now, and sends a wake-up for when the next step is due. It may
 * run twice, late, or at the same time as another run, and be killed at any line, because each step is decided from
 * what is read again. `core/lifecycle/advance.ts` decides the steps, and `core/passes/claim-check.ts` whether any is
 * needed. While what the NodeClaim waits for has not come, the next check is requeued, and nothing is written.
 */
export function reconcileClaim(name: string, cause: ClaimCause, deps: LifecycleDeps): Promise<void> {
  return untilStopped(name, () => checkAndAdvance(name, cause, deps), deps);
}

async function checkAndAdvance(name: string, cause: ClaimCause, deps: LifecycleDeps): Promise<void> {
  const { cluster, store, memory, now, sleep, wakeUps } = deps;
  if (!isCheckable(cause)) return advanceAll(name, {}, deps);
  const record = await store.get(cluster.name, name);
  const pass = claimPass(cause, record, memory.recall("nextChecks", now(), { key: name }), now());
  if (pass === "skip") return;
  if (pass === "reconcile" || record === undefined) return advanceAll(name, {}, deps);
  const isNews = cause.dueAt === undefined;
  const checkedFor = isNews ? "event" : cause.isPoll ? "poll" : "due";
  let check = await checkWait(record, checkedFor, deps);
  if (isNews && check.nextCheckAt !== undefined && !check.observed) {
    await sleep(UNTIL_WRITTEN_MS);
    check = await checkWait(record, checkedFor, deps);
  }
  if (check.nextCheckAt === undefined) return advanceAll(name, { record, ...check.state }, deps);
  // After an event, the wake-up of the same chain is still to come.
  if (check.isScheduled || (isNews && !check.ownedByOtherPass)) return;
  const next = { wakeAt: check.nextCheckAt, dueAt: record.dueAt };
  await wakeUps.wake([wakeUpAt(next, name, deps)]);
  memory.keep("nextChecks", next, now(), name);
}

/** Does the work of a reconcile, and ends it when EC2's request limit or an unreadable record stops it. */
async function untilStopped(name: string, work: () => Promise<void>, deps: LifecycleDeps): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (error instanceof ThrottledError && error.retryAfterMs !== undefined) return await putOff(name, error.retryAfterMs, deps);
    // The version that wrote the record reconciles the NodeClaim.
    if (!(error instanceof UnreadableRecordError)) throw error;
    deps.log.error("record cannot be read", { ...claimLogFields(name), error: error.message });
  }
}

/** Requeues a NodeClaim until EC2 may be asked again: waiting here would use up the time of the invocation. */
async function putOff(name: string, retryAfterMs: number, deps: LifecycleDeps): Promise<void> {
  const record = await deps.store.get(deps.cluster.name, name);
  if (record === undefined) return;
  const wakeAt = deps.now() + retryAfterMs;
  deps.log.debug("waiting for EC2's request limit", { ...claimLogFields(name), seconds: Math.ceil(retryAfterMs / 1_000) });
  await requeueAt({ wakeAt }, name, { ...record, ...launchPutOff(deps.now(), wakeAt, record) }, deps);
}

/** What a record says of a launch that is put off: a stored request has not been sent before its next turn. */
function launchPutOff(now: number, wakeAt: number, { instance, terminating, launch }: NodeClaimRecord): Partial<NodeClaimRecord> {
  if (instance !== undefined || terminating !== undefined) return {};
  return { launchPutOffAt: now, ...(launch && { launchRequestedAt: wakeAt }) };
}

/** Takes a NodeClaim as far as it can go, and after it the others whose steps were taken with its own. */
async function advanceAll(name: string, state: ClaimState, deps: LifecycleDeps): Promise<void> {
  const others = await advanceOne({ name, state, deps });
  const reconciles = others.map((other) => untilStopped(other.name, () => advanceAll(other.name, other.state, deps), deps));
  await Promise.all(reconciles);
}

async function advanceOne({ name, state: first, deps }: ActionContext): Promise<readonly OtherClaim[]> {
  const others: OtherClaim[] = [];
  let state = first;
  for (let steps = 0; steps < MAX_STEPS; steps++) {
    const { step, view } = await decide(await readView(name, deps, state), deps);
    const performed = await performAll(step, { name, state: seenIn(view, state), deps });
    if (performed.outcome === "refused") {
      await requeueAt({ wakeAt: deps.now() + REFUSED_RETRY_MS }, name, undefined, deps);
      return others;
    }
    state = performed.state;
    if (performed.outcome === "requeue") others.push(...performed.others);
    else if (!step.again) {
      const { wakeAt, polls, waitsFor } = step;
      if (wakeAt !== undefined) await requeueAt({ wakeAt, polls, waitsFor }, name, state.record, deps);
      return others;
    }
  }
  await requeueAt({ wakeAt: deps.now() + NEXT_STEPS_MS }, name, state.record, deps);
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

/** Performs the actions of a step. After a conflict the next step is decided from what is read again. */
async function performAll({ actions }: Step, { name, state: before, deps }: ActionContext): Promise<Performed> {
  let state = before;
  try {
    for (const action of actions) {
      const performed = await perform(action, { name, state, deps });
      if (performed.outcome !== "done") return performed;
      state = performed.state;
    }
    return { outcome: "done", state };
  } catch (error) {
    if (!(error instanceof ConflictError || error instanceof NotFoundError)) throw error;
    return { outcome: "requeue", state: { isContested: true }, others: [] };
  }
}
