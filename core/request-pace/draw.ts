import type { RequestPace } from "../model/request-pace.ts";
import type { RequestBucket } from "./buckets.ts";

/**
 * The pace of requests to EC2 that all functions of a stack share: a token bucket a little smaller than EC2's own,
 * which is halved for all when EC2 throttles one of them, and grows back (additive increase, multiplicative decrease).
 * What is drawn by a function that then ends is lost, and comes back with time.
 */

/** The most of EC2's bucket that is used: the rest is for other users of the account, and for clocks that differ. */
const MOST_SHARE = 0.9;
/** The least, however often EC2 throttles: others may be to blame, and a launch must get its turn some time. */
const LEAST_SHARE = 0.05;
/** Of EC2's bucket, each second after a throttle: from half to all in 22 s. */
const GROWTH_PER_SECOND = 0.02;
/** Throttles within this time have one cause, and slow down once. */
const ONE_THROTTLE_MS = 2_000;
/** A time this far ahead was written by a clock that is wrong, and is not waited for. */
const MAX_SKEW_MS = 10_000;
/** Of the bucket: what callers for which no pod waits leave to the others. */
const KEPT_FROM_BACKGROUND = 0.5;
/** The longest that a caller who is sent away stays away, ms. */
const MAX_AWAY_MS = 300_000;

/** A bucket without a draw. */
export const untouched = ({ burst }: RequestBucket, now: number): RequestPace => ({
  ...{ version: 0, tokens: burst * MOST_SHARE, countedAt: now, share: MOST_SHARE, sharedAt: 0, toldUntil: 0 },
});

interface Draw {
  /** The clock of the function that draws, ms since the epoch. */
  readonly now: number;
  /** Requests that are to be made now. */
  readonly calls: number;
  /** Requests that are drawn besides for later, where the bucket is at least half full. */
  readonly ahead?: number;
  /** The longest that a caller waits where it is, ms. */
  readonly maxWaitMs: number;
  /** Whether no pod waits for these requests: then they leave half of the bucket to the others. */
  readonly isBackground?: boolean;
}

export interface Drawn {
  /** What is to be written before any of the requests is made. */
  readonly next: RequestPace;
  /** For each request that may be made, in order, after how many ms. */
  readonly waitsMs: readonly number[];
  readonly ahead: number;
  /** For each of the others, in order, after how many ms it is to ask again. */
  readonly awayMs: readonly number[];
}

/** Draws from the bucket for several callers at once. Exactly `calls` of them are answered, one way or the other. */
export function draw(pace: RequestPace, bucket: RequestBucket, { now, calls, ahead = 0, maxWaitMs, isBackground }: Draw): Drawn {
  const share = shareAt(pace, now);
  const full = bucket.burst * share;
  const perMs = (bucket.perSecond * share) / 1_000;
  const { tokens, countedAt } = refilled(pace, bucket, now);
  const own = tokens - (isBackground === true ? full * KEPT_FROM_BACKGROUND : 0);
  const waitOf = (place: number): number => Math.max(0, Math.ceil((place - own) / perMs));
  const granted = Math.max(0, Math.min(calls, Math.floor(own + maxWaitMs * perMs)));
  const more = granted < calls ? 0 : Math.max(0, Math.min(ahead, Math.floor(tokens - granted - full / 2)));
  const away = calls - granted;
  const first = Math.min(Math.max(toldUntil(pace, now), now + waitOf(granted + 1)), now + MAX_AWAY_MS);
  const awayMs = Array.from({ length: away }, (_, i) => Math.min(first - now + Math.ceil(i / perMs), MAX_AWAY_MS));
  return {
    next: {
      ...pace,
      ...{ tokens: tokens - granted - more, countedAt },
      ...(away > 0 && { toldUntil: now + Math.min((awayMs.at(-1) ?? 0) + Math.ceil(1 / perMs), MAX_AWAY_MS) }),
    },
    waitsMs: Array.from({ length: granted }, (_, i) => waitOf(i + 1)),
    ahead: more,
    awayMs,
  };
}

/** The bucket after EC2 has throttled a request: empty, and half as fast for all. Undefined when it knows already. */
export function slowed(pace: RequestPace, bucket: RequestBucket, now: number): RequestPace | undefined {
  if (pace.sharedAt > 0 && now - pace.sharedAt < ONE_THROTTLE_MS && pace.sharedAt - now < MAX_SKEW_MS) return undefined;
  const { tokens, countedAt } = refilled(pace, bucket, now);
  return { ...pace, tokens: Math.min(tokens, 0), countedAt, share: Math.max(LEAST_SHARE, shareAt(pace, now) / 2), sharedAt: now };
}

function shareAt({ share, sharedAt }: RequestPace, now: number): number {
  return Math.min(MOST_SHARE, Math.max(LEAST_SHARE, share) + (Math.max(0, now - sharedAt) / 1_000) * GROWTH_PER_SECOND);
}

/**
 * What is in the bucket now. Time that has not passed for this clock gives nothing, and a clock that runs ahead gives
 * its lead once, because the next one counts from there: at most one bucket.
 */
function refilled(pace: RequestPace, { burst, perSecond }: RequestBucket, now: number): Pick<RequestPace, "tokens" | "countedAt"> {
  const share = shareAt(pace, now);
  const elapsed = Math.max(0, now - pace.countedAt);
  const countedAt = pace.countedAt - now > MAX_SKEW_MS ? now : Math.max(pace.countedAt, now);
  // No draw promises more than a bucket: what is lower was damaged.
  const left = Math.max(-burst, pace.tokens);
  return { tokens: Math.min(burst * share, left + (elapsed / 1_000) * perSecond * share), countedAt };
}

const toldUntil = ({ toldUntil: at }: RequestPace, now: number): number => (at - now > MAX_AWAY_MS + MAX_SKEW_MS ? 0 : at);
