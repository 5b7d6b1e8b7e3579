import type { DisruptionReason } from "../../model/command-record.ts";
import type { NodePool } from "../../model/node-pool.ts";
import type { Pod } from "../../model/pod.ts";
import { budgetsOf, isActiveBudget } from "../cluster/budget.ts";
import type { RateSetting } from "../settings.ts";
import { type MovedPods, shareWell, withMoved } from "./pod-health.ts";

/** One window of the rate, as the table keeps it: one for each cluster. */
export interface DisruptionRate {
  /** When the window began, ms since the epoch. */
  readonly since: number;
  /** The nodes that stood then. */
  readonly nodes: number;
  /** How many times the setting's share may be ended: it doubles while the pods that moved stay well. */
  readonly factor: number;
  /** NodeClaim to when its end was decided, ms. A decision that is repeated counts once. */
  readonly ended: Readonly<Record<string, number>>;
  readonly moved: MovedPods;
}

/** The cluster at the time of a decision. */
export interface RateFacts {
  readonly now: number;
  /** How many nodes stand. */
  readonly nodes: number;
  /** The NodeClaims that stand. */
  readonly claims?: ReadonlySet<string>;
  /** Undefined where no pods are read: then nothing is known of how those that moved are. */
  readonly pods?: readonly Pod[];
}

/** So many nodes may be ended in every window, however small the cluster is. */
const MIN_NODES = 10;
/** How long pods are given to start before they are looked at, ms. No benchmark has tuned it. */
const SETTLE_MS = 60_000;
const MIN_WELL = 0.9;
const MAX_FACTOR = 64;

/** "20%/10m", or "off" for no limit. Undefined for anything else. */
export function readRate(text: string, readDuration: (text: string) => number | undefined): RateSetting | "off" | undefined {
  if (text === "off") return "off";
  const [, percent = "", duration = ""] = /^(\d{1,3})%\/(\w+)$/.exec(text) ?? [];
  const [share, windowMs = 0] = [Number(percent) / 100, readDuration(duration)];
  return percent !== "" && share > 0 && share <= 1 && windowMs >= SETTLE_MS ? { share, windowMs } : undefined;
}

/** How many nodes may be ended in a window. */
export const limitOf = ({ nodes, factor }: DisruptionRate, { share }: RateSetting): number =>
  Math.max(MIN_NODES, Math.floor(nodes * share)) * factor;

/** How many nodes may still be ended in a window. */
export const leftOf = (rate: DisruptionRate, setting: RateSetting): number =>
  Math.max(0, limitOf(rate, setting) - Object.keys(rate.ended).length);

/** When a window is over whatever happens, ms since the epoch. */
export const endOfWindow = ({ since }: DisruptionRate, { windowMs }: RateSetting): number => since + windowMs;

const lastEndOf = ({ since, ended }: DisruptionRate): number => Math.max(since, ...Object.values(ended));

/** When the pods of a window that is used up are looked at next, ms since the epoch; undefined while some may go. */
export function nextLookAt(rate: DisruptionRate, setting: RateSetting, now: number): number | undefined {
  if (leftOf(rate, setting) > 0) return undefined;
  const looks = Math.floor((now - lastEndOf(rate)) / SETTLE_MS) + 1;
  return Math.min(endOfWindow(rate, setting), lastEndOf(rate) + looks * SETTLE_MS);
}

/**
 * The window of a moment: the stored one, or the next one when that is over. A window that is used up is over as soon
 * as the pods that moved are seen to be well, so that only a cluster whose pods suffer waits.
 */
export function windowAt(stored: DisruptionRate | undefined, facts: RateFacts, setting: RateSetting): DisruptionRate {
  const { now, nodes, pods } = facts;
  const fresh = { since: now, nodes, factor: 1, ended: {}, moved: {} };
  if (stored === undefined) return fresh;
  const lastEnd = lastEndOf(stored);
  // Pods move when their node goes, which may be minutes after that was decided.
  const isSettled = now - lastEnd >= SETTLE_MS && !Object.keys(stored.ended).some((name) => facts.claims?.has(name));
  const isWell = pods !== undefined && isSettled && shareWell(stored.moved, pods, now - SETTLE_MS) >= MIN_WELL;
  const isOver = now >= endOfWindow(stored, setting);
  if (!isOver && !(isWell && leftOf(stored, setting) === 0)) return stored;
  if (now - lastEnd >= 2 * setting.windowMs) return fresh;
  if (pods === undefined) return { ...fresh, factor: stored.factor };
  return { ...fresh, factor: isWell ? Math.min(MAX_FACTOR, 2 * stored.factor) : 1 };
}

/** The window with more nodes ended, whose pods move. */
export function withEnded(
  rate: DisruptionRate,
  ended: readonly string[],
  { now, pods = [] }: Pick<RateFacts, "now" | "pods">,
  moving: readonly Pod[] = [],
): DisruptionRate {
  const more = ended.filter((name) => rate.ended[name] === undefined);
  if (more.length === 0) return rate;
  const times = Object.fromEntries(more.map((name) => [name, now]));
  return { ...rate, ended: { ...rate.ended, ...times }, moved: withMoved(rate.moved, moving, pods) };
}

/** Whether a person has written that all nodes of a NodePool may go at once; such nodes are not counted. */
export function isUnlimited(pool: NodePool, reason: DisruptionReason | undefined, now: number): boolean {
  const written = pool.spec.disruption?.budgets;
  if (written === undefined) return false;
  const applying = budgetsOf(pool).filter(
    (budget) => isActiveBudget(budget, now) === true && (!budget.reasons?.length || budget.reasons.some((one) => one === reason)),
  );
  return written.length === 0 || (applying.length > 0 && applying.every(({ nodes }) => nodes === "100%"));
}
