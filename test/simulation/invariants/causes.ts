import { PRODUCT } from "#lab/world/api-server.ts";
import { durationMs, SICKNESS_TOLERATED_MS } from "./facts.ts";
import type { ClaimLife, History } from "./history.ts";

type Skewed = Pick<History, "skewMs">;

const MINUTE_MS = 60_000;
/**
 * From the plan until the machine must run, and until its node must have joined (docs/architecture.md). The plan is
 * older than the NodeClaim: creating that may fail and be tried again.
 */
const LAUNCH_MS = 5 * MINUTE_MS;
const REGISTRATION_MS = 15 * MINUTE_MS;

/**
 * What in the world makes a NodeClaim end, whatever is decided: its expiry, a notice of EC2, a user, a time-out. The
 * first one; undefined when nothing does.
 */
export function forcedCause(life: ClaimLife, now: number, { skewMs }: Skewed): string | undefined {
  const { claim, notice, machine, registeredAt, plannedAt } = life;
  if (notice !== undefined) return notice.what;
  if (isSick(life, now, { skewMs })) return SICK;
  if (life.nodeDeletedAt !== undefined) return "its node was deleted by somebody else";
  if (life.deletedBy !== undefined && life.deletedBy !== PRODUCT) return `deleted by ${life.deletedBy}`;
  if (now + skewMs >= expiresAt(life)) return "expiry";
  if (machine === undefined && life.refusedAt !== undefined) return "EC2 had no machine";
  const age = now + skewMs - plannedAt;
  // A machine whose launch nobody has heard of counts as not launched: its NodeClaim names none.
  if (claim.status?.providerID === undefined && age >= LAUNCH_MS) return "launch time-out";
  if (registeredAt === undefined && age >= REGISTRATION_MS) return "registration time-out";
  return undefined;
}

/** From when on a NodeClaim may expire, ms: within the last tenth of its lifetime. */
export const expiresAt = ({ addedAt, claim }: ClaimLife): number => addedAt + 0.9 * durationMs(claim.spec.expireAfter ?? "720h");

/** The cause of a repair. */
export const SICK = "broken hardware";

/** Whether the hardware of its node has been broken for as long as NodeRepair tolerates it. */
export const isSick = ({ sick }: ClaimLife, now: number, { skewMs }: Skewed): boolean =>
  sick !== undefined && (sick.until ?? now) + skewMs - sick.from >= SICKNESS_TOLERATED_MS;

/** Whether the NodeClaim is on its way out in the eyes of the world: asked to go, or with a cause to. */
export function isGoing(life: ClaimLife, now: number, skewed: Skewed): boolean {
  return life.deletedAt !== undefined || life.goneAt !== undefined || forcedCause(life, now, skewed) !== undefined;
}

/** Whether the NodePool's template has changed since the NodeClaim was planned: its node may count as drifted. */
export function hasDrifted({ pool, plannedAt }: ClaimLife, history: History, now: number): boolean {
  const editions = history.poolsWithin(pool, plannedAt - STALE_PLAN_MS, now);
  return new Set(editions.map(({ spec }) => JSON.stringify([spec.template, spec.replicas]))).size > 1;
}

/** A plan may be made from a NodePool that was read this long before, ms. */
const STALE_PLAN_MS = 3 * MINUTE_MS;
