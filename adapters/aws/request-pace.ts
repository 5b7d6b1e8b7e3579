import { setTimeout as sleep } from "node:timers/promises";
import type { RequestPace as State } from "#core/model/request-pace.ts";
import { ThrottledError } from "#core/ports/errors.ts";
import type { Log } from "#core/ports/log.ts";
import type { NodeClaimStore } from "#core/ports/node-claim-store.ts";
import { aheadOf, bucketOf, type RequestBucket } from "#core/request-pace/buckets.ts";
import { type Drawn, draw, slowed, untouched } from "#core/request-pace/draw.ts";

/** The pace of requests to EC2. */
export interface RequestPacer {
  /**
   * Resolves when a request of the action may be made. Throws ThrottledError with `retryAfterMs` when that is too far
   * off to wait for.
   */
  turn(action: string): Promise<void>;
  /** Records that EC2 has throttled a request of the action. */
  throttled(action: string): Promise<void>;
}

interface RequestPaceOptions {
  readonly store: Pick<NodeClaimStore, "swapPace">;
  /** Account and region, "123456789012/us-west-2": functions with the same share their buckets. */
  readonly account: string;
  /** Whether no pod waits for these requests. */
  readonly isBackground?: boolean;
  /** Milliseconds since the epoch. */
  readonly now?: () => number;
  readonly sleep?: (ms: number) => Promise<unknown>;
  /** Called with the ms that a request has waited, or will have to. */
  readonly onWait?: (action: string, ms: number) => void;
  /** Logs when this process begins and ends to keep a pace of its own. */
  readonly log?: Pick<Log, "info" | "error">;
}

/**
 * The longest wait inside of an invocation, ms: time that is waited is paid for, and takes from the time limit. No
 * benchmark has tuned it.
 */
const MAX_WAIT_MS = 2_000;
/**
 * What is drawn ahead and not used within this time is given up. A quiet cluster asks once a minute. As many functions
 * as run at once for one cluster hold no more than one bucket together.
 */
const HELD_MS = 300_000;
/** Callers of one draw: more would have to wait for longer than MAX_WAIT_MS anyway. */
const MAX_CALLS = 100;
/**
 * Draws that another function was faster than, until this one keeps a pace of its own. Of functions that begin in one
 * moment each round of writes, some milliseconds, serves one.
 */
const MAX_TRIES = 60;
/** How long a table that has failed is not asked again. */
const ALONE_MS = 10_000;
/** The part of EC2's bucket that a function takes which does not know of the others: ten may run at once. */
const ALONE_SHARE = 0.1;

interface Lane {
  readonly bucket: RequestBucket;
  readonly waiting: { readonly go: (waitMs: number) => void; readonly away: (awayMs: number) => void }[];
  held: number;
  heldUntil: number;
  isDrawing: boolean;
  /** The state as this process has seen it last; often still the present one. */
  seen: State | undefined;
  /** The pace of this process alone, for while the table does not answer. */
  alone: State | undefined;
  aloneUntil: number;
}

/**
 * A pace that all functions of the stack share by the table: a draw is one conditional write for all that wait in this
 * process, and looks at EC2 are drawn five at a time. While the table does not answer, each function keeps a pace of
 * its own, a tenth of EC2's buckets.
 */
class SharedRequestPace implements RequestPacer {
  readonly #options: RequestPaceOptions;
  readonly #now: () => number;
  readonly #lanes = new Map<string, Lane>();
  /** Since when the table has not answered, ms. */
  #aloneSince: number | undefined;

  constructor(options: RequestPaceOptions) {
    this.#options = options;
    this.#now = options.now ?? Date.now;
  }

  async turn(action: string): Promise<void> {
    const { onWait, sleep: wait = sleep } = this.#options;
    const lane = this.#laneOf(action);
    if (lane.held > 0 && this.#now() < lane.heldUntil) {
      lane.held -= 1;
      return;
    }
    const answer = new Promise<{ readonly waitMs: number } | { readonly awayMs: number }>((resolve) => {
      lane.waiting.push({ go: (waitMs) => resolve({ waitMs }), away: (awayMs) => resolve({ awayMs }) });
    });
    if (!lane.isDrawing) await this.#serve(action, lane);
    const drawn = await answer;
    if ("awayMs" in drawn) {
      onWait?.(action, drawn.awayMs);
      throw new ThrottledError(
        `EC2 takes so many requests of ${action} a second, and the functions of this stack have used them up; the next one may be made in ${Math.ceil(drawn.awayMs / 1_000)} s.`,
        { retryAfterMs: drawn.awayMs },
      );
    }
    if (drawn.waitMs === 0) return;
    onWait?.(action, drawn.waitMs);
    await wait(drawn.waitMs);
  }

  async throttled(action: string): Promise<void> {
    const lane = this.#laneOf(action);
    lane.held = 0;
    const slow = (state: State): { readonly next: State } | undefined => {
      const next = slowed(state, lane.bucket, this.#now());
      return next && { next };
    };
    if (lane.alone !== undefined) lane.alone = slow(lane.alone)?.next ?? lane.alone;
    try {
      await this.#swapped(action, lane, slow);
    } catch {
      // The next draw finds the table, or keeps a pace of its own.
    }
  }

  #laneOf(action: string): Lane {
    const known = this.#lanes.get(action);
    if (known !== undefined) return known;
    const fresh = { held: 0, heldUntil: 0, isDrawing: false, seen: undefined, alone: undefined, aloneUntil: 0 };
    const lane: Lane = { ...fresh, bucket: bucketOf(action), waiting: [] };
    this.#lanes.set(action, lane);
    return lane;
  }

  async #serve(action: string, lane: Lane): Promise<void> {
    lane.isDrawing = true;
    try {
      while (lane.waiting.length > 0) {
        const callers = lane.waiting.splice(0, MAX_CALLS);
        const { waitsMs, awayMs, ahead } = await this.#drawn(action, lane, callers.length);
        lane.held = ahead;
        lane.heldUntil = this.#now() + HELD_MS;
        for (const [i, { go, away }] of callers.entries()) {
          const waitMs = waitsMs[i];
          if (waitMs === undefined) away(awayMs[i - waitsMs.length] ?? MAX_WAIT_MS);
          else go(waitMs);
        }
      }
    } finally {
      lane.isDrawing = false;
    }
  }

  async #drawn(action: string, lane: Lane, calls: number): Promise<Drawn> {
    const { isBackground = false } = this.#options;
    const leftMs = lane.aloneUntil - this.#now();
    if (leftMs > 0 && leftMs <= ALONE_MS) return this.#drawAlone(lane, calls);
    const ahead = aheadOf(action);
    try {
      const answer = await this.#swapped(action, lane, (state) =>
        draw(state, lane.bucket, { now: this.#now(), calls, ahead, maxWaitMs: MAX_WAIT_MS, isBackground }),
      );
      this.#shareAgain();
      return answer ?? this.#drawAlone(lane, calls);
    } catch (error) {
      this.#stopSharing(lane, error);
      return this.#drawAlone(lane, calls);
    }
  }

  #drawAlone(lane: Lane, calls: number): Drawn {
    const now = this.#now();
    const bucket = { burst: lane.bucket.burst * ALONE_SHARE, perSecond: lane.bucket.perSecond * ALONE_SHARE };
    const drawn = draw(lane.alone ?? untouched(bucket, now), bucket, { now, calls, maxWaitMs: MAX_WAIT_MS });
    lane.alone = drawn.next;
    return drawn;
  }

  /** Writes what `change` makes of the present state, and returns it; undefined when others are always faster. */
  async #swapped<T extends { readonly next: State }>(
    action: string,
    lane: Lane,
    change: (state: State) => T | undefined,
  ): Promise<T | undefined> {
    const { store, account } = this.#options;
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      const changed = change(lane.seen ?? untouched(lane.bucket, this.#now()));
      if (changed === undefined) return undefined;
      const standing = await store.swapPace(`${account}/${action}`, changed.next);
      lane.seen =
        standing === undefined ? { ...changed.next, version: changed.next.version + 1 } : standing === "nothing" ? undefined : standing;
      if (standing === undefined) return changed;
    }
    return undefined;
  }

  #stopSharing(lane: Lane, error: unknown): void {
    const { account, log } = this.#options;
    lane.aloneUntil = this.#now() + ALONE_MS;
    if (this.#aloneSince !== undefined) return;
    this.#aloneSince = this.#now();
    log?.error("the pace of requests to EC2 cannot be shared; this function continues at a tenth of it", { account, error });
  }

  #shareAgain(): void {
    if (this.#aloneSince === undefined) return;
    const { account, log } = this.#options;
    const seconds = Math.round((this.#now() - this.#aloneSince) / 1_000);
    log?.info("the pace of requests to EC2 is shared again", { account, seconds });
    this.#aloneSince = undefined;
  }
}

/** The pace of requests to EC2 that the functions of a stack share. */
export const sharedRequestPace = (options: RequestPaceOptions): RequestPacer => new SharedRequestPace(options);
