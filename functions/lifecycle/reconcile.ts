import type { Step } from "../../core/lifecycle/action.ts";
import { advance } from "../../core/lifecycle/advance.ts";
import { ConflictError, NotFoundError } from "../../core/ports/errors.ts";
import type { LifecycleDeps } from "../shared/cluster-deps.ts";
import { ignoreConflict } from "../shared/optimistic.ts";
import { perform } from "./perform.ts";
import { readInstance, readView } from "./view.ts";

/** A life has about ten steps; conflicts with kubelets and people add some. The next wake-up goes on where this stops. */
const MAX_STEPS = 25;

/** A wake-up that came before its time is in the record would be dropped as somebody else's. */
const MIN_DELAY_MS = 1_000;

/**
 * Takes a claim as far as it can be taken now, and asks to be woken when the next step is due. Safe to run twice, late, at the same time as
 * another, or to be killed at any line: each step looks at the world anew.
 * @param dueAt what the wake-up was made for; a record that is due at another time has been looked after by somebody else since.
 */
export async function reconcileClaim(name: string, dueAt: number | undefined, deps: LifecycleDeps): Promise<void> {
  for (let steps = 0; steps < MAX_STEPS; steps++) {
    const view = await readView(name, deps);
    if (steps === 0 && dueAt !== undefined && view.record !== undefined && view.record.dueAt !== dueAt) return;
    let step = advance(view);
    if (step.ask === "instance") step = advance({ ...view, instance: await readInstance(view.record, deps) });
    const done = await performAll(step, name, deps);
    if (done && !step.again) {
      if (step.wakeAt !== undefined) await sleepUntil(step.wakeAt, name, deps);
      return;
    }
  }
  await sleepUntil(deps.now() + 1_000, name, deps);
}

/** False when somebody else changed or removed what we were about to change: then the next step is taken from what they made of it. */
async function performAll(step: Step, name: string, deps: LifecycleDeps): Promise<boolean> {
  try {
    for (const action of step.actions) {
      if ((await perform(action, name, deps)) === "look again") return false;
    }
    return true;
  } catch (error) {
    if (error instanceof ConflictError || error instanceof NotFoundError) return false;
    throw error;
  }
}

/**
 * The wake-up goes out before the record says that it did: a kill between the two leaves the record overdue, and the sweep finds it.
 * It names the time that it is for, so that of several chains of wake-ups for one claim only the last goes on.
 */
async function sleepUntil(at: number, name: string, { cluster, store, wakeUps, now }: LifecycleDeps): Promise<void> {
  const record = await store.get(cluster.name, name);
  if (record === undefined) return;
  await wakeUps.wake([{ kind: "claim", cluster: cluster.name, claim: name, delayMs: Math.max(at - now(), MIN_DELAY_MS), dueAt: at }]);
  // Another run that has written the record since looks after the claim now; the wake-up sent above will be dropped.
  await ignoreConflict(store.update({ ...record, dueAt: at }));
}
