import { PROVISION_CAUSES } from "#core/passes/causes.ts";
import type { TableReading } from "#core/passes/leaving-nodes.ts";
import { putOff, type WakeUpReason } from "#core/ports/wake-up-causes.ts";
import { isPausedForKarpenter } from "../shared/beside-karpenter.ts";
import type { ClusterDeps } from "../shared/cluster-deps.ts";
import { isHeldOpen, isIdle, pendingCheck, readTable, windowLeft } from "./check.ts";
import { makePlan, type Outcome, type PlanOptions } from "./plan.ts";

/**
 * The longest rest of a batching window that is waited for here, ms: over the queues it takes at least two seconds to
 * come back.
 */
const MAX_REST_MS = 1_000;

/** How old what is known of a Karpenter beside us may be for a plan, ms. */
const LEASE_AGE_MS = 60_000;

const PODS_COMING = { cause: "PodsComing" } as const;

interface Check {
  readonly state: "check";
  readonly cause: WakeUpReason<"provision">;
  /**
   * The rest of a batching window was waited for. Only once, so that wake-ups, of which one may come each second, do
   * not pile up.
   */
  readonly hasRested: boolean;
  readonly table?: TableReading;
}

interface Planning extends PlanOptions {
  readonly state: "plan";
  readonly cause: WakeUpReason<"provision">;
  readonly hasRested: boolean;
}

/** What a pass has read and planned, to be published. */
export type Committed = Extract<Outcome, { readonly kind: "waiting" | "planned" }>;

type Pass =
  | Check
  | Planning
  | { readonly state: "commit"; readonly outcome: Committed }
  | { readonly state: "end"; readonly outcome?: Committed };

const END: Pass = { state: "end" };

/**
 * One pass of provisioning: checks whether pods wait for a plan, plans nodes for those that fit on none, writes a
 * record of intent for each NodeClaim and wakes the lifecycle for it. It launches nothing itself. A kill after the
 * records are written costs only time, because the lifecycle's sweep takes up records that are overdue.
 * @returns what is to be published, after the lease is released, so that no other decision waits for it
 */
export async function provision(reason: WakeUpReason<"provision">, deps: ClusterDeps): Promise<Committed | undefined> {
  let pass: Pass = await begin(reason, deps);
  while (pass.state !== "end") {
    if (pass.state === "check") pass = await check(pass, deps);
    else if (pass.state === "plan") pass = await plan(pass, reason, deps);
    else pass = await commit(pass.outcome, deps);
  }
  return pass.outcome;
}

/** A cluster with CapacityBuffers is planned for each time, because their virtual pods are in no list. */
async function begin(reason: WakeUpReason<"provision">, deps: ClusterDeps): Promise<Pass> {
  const isIdleCheck = PROVISION_CAUSES[reason.cause].check === "idle";
  if (deps.settings.capacityBuffer) return planFor(reason, deps);
  if (isIdleCheck) return (await isIdle(deps)) ? END : planFor(reason, deps);
  const hasRested = await rests(windowLeft(deps), deps);
  return { state: "check", cause: hasRested ? PODS_COMING : reason, hasRested };
}

async function check({ cause, hasRested, table: known }: Check, deps: ClusterDeps): Promise<Pass> {
  const table = known ?? (await readTable(deps));
  const found = await pendingCheck(cause, table, deps);
  if (found.next === "skip") return END;
  if (found.next === "run") return planFor(cause, deps);
  if (!hasRested && (await rests(found.ms, deps))) return { state: "check", cause: PODS_COMING, hasRested: true, table };
  if (await isHeldOpen(found.pods, deps)) return planFor(cause, deps, true);
  await wake({ ...PODS_COMING, delayMs: found.ms }, deps);
  return END;
}

async function planFor(cause: WakeUpReason<"provision">, deps: ClusterDeps, isOverdue = false): Promise<Pass> {
  if (await isPausedForKarpenter(deps, LEASE_AGE_MS)) return END;
  return planning(cause, { isOverdue, hasRested: false });
}

const planning = (cause: WakeUpReason<"provision">, how: Pick<Planning, "isOverdue" | "hasRested">): Planning => ({
  ...{ state: "plan", cause, isFresh: !PROVISION_CAUSES[cause.cause].usesKnownDefinitions },
  ...how,
});

/** @param reason the cause of the pass, which a wake-up for a pass in its place carries on */
async function plan(pass: Planning, reason: WakeUpReason<"provision">, deps: ClusterDeps): Promise<Pass> {
  const outcome = await makePlan(pass.cause, pass, deps);
  switch (outcome.kind) {
    case "putOff":
      await wake(putOff(reason), deps);
      return END;
    case "outdated":
      return { ...pass, isFresh: true };
    case "planned":
      return { state: "commit", outcome };
    case "waiting":
      if (!pass.hasRested && (await rests(outcome.ms, deps))) return planning(PODS_COMING, { isOverdue: false, hasRested: true });
      if (await isHeldOpen(outcome.pending, deps)) return planning(PODS_COMING, { isOverdue: true, hasRested: true });
      return { state: "commit", outcome };
  }
}

async function commit(outcome: Committed, deps: ClusterDeps): Promise<Pass> {
  if (outcome.kind === "waiting") await wake({ ...PODS_COMING, delayMs: outcome.ms }, deps);
  else if (Object.keys(outcome.plan.podErrors).length === 0) deps.memory.keep("fullyPlaced", true, deps.now());
  else deps.memory.forget("fullyPlaced");
  return { state: "end", outcome };
}

/** Waits for the rest of a batching window when it is short; whether it did. */
async function rests(ms: number, { sleep }: Pick<ClusterDeps, "sleep">): Promise<boolean> {
  const isShort = ms > 0 && ms <= MAX_REST_MS;
  if (isShort) await sleep(ms);
  return isShort;
}

const wake = (wakeUp: WakeUpReason<"provision"> & { readonly delayMs?: number }, { cluster, wakeUps }: ClusterDeps): Promise<void> =>
  wakeUps.wake([{ kind: "provision", cluster: cluster.name, ...wakeUp }]);
