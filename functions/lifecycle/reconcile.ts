import type { Step } from "../../core/lifecycle/action.ts";
import { advance } from "../../core/lifecycle/advance.ts";
import { ConflictError, NotFoundError, UnreadableRecordError } from "../../core/ports/errors.ts";
import type { LifecycleDeps } from "../shared/cluster-deps.ts";
import { ignoreConflict } from "../shared/optimistic.ts";
import type { Performed } from "./launch/launch.ts";
import { claimLogFields } from "./log-fields.ts";
import { perform } from "./perform.ts";
import { readInstance, readView } from "./view.ts";

/**
 * A NodeClaim takes about ten steps from launch to removal; conflicts with kubelets and users add some. The next
 * wake-up continues where this ends.
 */
const MAX_STEPS = 25;

/** Wait after a write that was refused. No benchmark has tuned it. */
const REFUSED_RETRY_MS = 30_000;

/** A wake-up that arrives before its time is in the record would be dropped as one of another chain. */
const MIN_DELAY_MS = 1_000;

/**
 * Reconciles one NodeClaim: takes it as far as it can go now, and sends a wake-up for when the next step is due. It may
 * run twice, late, or at the same time as another run, and be killed at any line, because each step is decided from
 * what is read again. `core/lifecycle/advance.ts` decides the steps.
 * @param dueAt the time that the wake-up was sent for; a record that is due at another time has been reconciled by
 * another run since, and is left alone
 */
export async function reconcileClaim(name: string, dueAt: number | undefined, deps: LifecycleDeps): Promise<void> {
  for (let steps = 0; steps < MAX_STEPS; steps++) {
    const view = await readView(name, deps).catch((error: unknown) => unreadable(error, name, deps));
    if (view === undefined) return;
    if (steps === 0 && dueAt !== undefined && view.record !== undefined && view.record.dueAt !== dueAt) return;
    let step = advance(view);
    if (step.ask === "instance") step = advance({ ...view, instance: await readInstance(view.record, deps) });
    const outcome = await performAll(step, name, deps);
    if (outcome === "later") return sleepUntil(deps.now() + REFUSED_RETRY_MS, name, deps);
    if (outcome === "done" && !step.again) {
      if (step.wakeAt !== undefined) await sleepUntil(step.wakeAt, name, deps);
      return;
    }
  }
  await sleepUntil(deps.now() + 1_000, name, deps);
}

/** Ends the pass of a NodeClaim whose record cannot be read: it is for the version that wrote it. */
function unreadable(error: unknown, name: string, { log }: LifecycleDeps): undefined {
  if (!(error instanceof UnreadableRecordError)) throw error;
  log.error("record cannot be read", { ...claimLogFields(name), error: error.message });
}

/**
 * "look again" when another has changed or removed what was about to be written: the next step is then decided from
 * what is there now.
 */
async function performAll(step: Step, name: string, deps: LifecycleDeps): Promise<Performed> {
  try {
    for (const action of step.actions) {
      const performed = await perform(action, name, deps);
      if (performed !== "done") return performed;
    }
    return "done";
  } catch (error) {
    if (error instanceof ConflictError || error instanceof NotFoundError) return "look again";
    throw error;
  }
}

/**
 * The wake-up is sent before the record says so: a kill between the two leaves the record overdue, and the sweep finds
 * it. The wake-up carries the time that it is for, so that of several chains of wake-ups for one NodeClaim only the
 * last continues.
 */
async function sleepUntil(at: number, name: string, { cluster, store, wakeUps, now }: LifecycleDeps): Promise<void> {
  const record = await store.get(cluster.name, name);
  if (record === undefined) return;
  await wakeUps.wake([{ kind: "claim", cluster: cluster.name, claim: name, delayMs: Math.max(at - now(), MIN_DELAY_MS), dueAt: at }]);
  // If another run has written the record since, that run looks after the NodeClaim, and this wake-up will be dropped.
  await ignoreConflict(store.update({ ...record, dueAt: at }));
}
