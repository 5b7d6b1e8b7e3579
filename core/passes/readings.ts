/** How many pods and nodes a pass has listed. */
interface Counts {
  /** Those that do not end. */
  readonly pods: number;
  readonly nodes: number;
  /** Pods that are listed as ending: they are there, and say where the others have gone. */
  readonly endingPods?: number;
}

/** What the table keeps of the lists of the passes before. */
export interface Readings extends Omit<Counts, "endingPods"> {
  /** When a list was first seen to lack most of them, ms since the epoch; absent while none does. */
  readonly doubtedAt?: number;
}

/** So many objects must be gone, and more than half of all, for a list to be doubted. */
const MIN_LOSS = 10;
/** A second list counts from this time after the first one on, ms: what misleads one must not mislead both. */
const CONFIRM_MS = 30_000;
/** The longest that a list is doubted, ms: then what it says is acted upon, whatever another one says. */
const MAX_DOUBT_MS = 2 * 60_000;
/** Smaller changes are stored with the next larger one. */
const NOTED_SHARE = 0.1;

const isLoss = (before: number, now: number): boolean => before - now >= MIN_LOSS && now * 2 < before;
const isNoted = (before: number, now: number): boolean => Math.abs(before - now) > NOTED_SHARE * before;

/** Whether most pods or nodes are gone at once, as when an API server, a proxy or a restored etcd is wrong. */
export const lacksMost = (before: Counts, counts: Counts): boolean =>
  isLoss(before.pods, counts.pods + (counts.endingPods ?? 0)) || isLoss(before.nodes, counts.nodes);

/**
 * Whether a pass may act upon its lists. "confirm": only if a list that is read for that purpose says the same. `next`
 * is what the table keeps from then on; absent where it keeps what it has.
 */
interface Judgement {
  readonly verdict: "plausible" | "doubtful" | "confirm";
  readonly next?: Readings;
  /** When a doubtful list is looked at again, ms since the epoch. */
  readonly lookAt?: number;
}

export function judgeReadings(before: Readings | undefined, counts: Counts, now: number): Judgement {
  const { pods, nodes } = counts;
  const next = { pods, nodes };
  if (before === undefined) return { verdict: "plausible", next };
  if (!lacksMost(before, counts)) {
    const changes = before.doubtedAt !== undefined || isNoted(before.pods, pods) || isNoted(before.nodes, nodes);
    return { verdict: "plausible", ...(changes && { next }) };
  }
  const { doubtedAt = now } = before;
  if (now - doubtedAt >= MAX_DOUBT_MS) return { verdict: "plausible", next };
  if (now - doubtedAt >= CONFIRM_MS) return { verdict: "confirm", next, lookAt: doubtedAt + MAX_DOUBT_MS };
  return { verdict: "doubtful", lookAt: doubtedAt + CONFIRM_MS, ...(before.doubtedAt === undefined && { next: { ...before, doubtedAt } }) };
}
