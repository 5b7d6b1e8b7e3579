import type { RequestPacer } from "#adapters/aws/request-pace.ts";
import { ThrottledError } from "#core/ports/errors.ts";
import type { VirtualClock } from "./clock.ts";
import type { Random } from "./random.ts";

/** What came of the requests of one action. */
interface RequestCount {
  /** Answered, and refused with RequestLimitExceeded. */
  passed: number;
  throttled: number;
  /** When the last one was answered, ms since the epoch. */
  lastAt: number;
}

/** One environment of a function, as Lambda keeps it between invocations: what it remembers, no other knows. */
export interface Environment {
  readonly pace: RequestPacer;
  /** Requests that need not be made again, or not yet. */
  readonly made: Map<string, Promise<void>>;
}

/** EC2's buckets of requests, as it documents them, and the SDK's attempts in front of them. */
export interface Ec2Requests {
  /** Makes one request. Throws ThrottledError when EC2 refuses it as often as the SDK tries. */
  make(action: string, environment: Environment | undefined): Promise<void>;
  readonly counts: ReadonlyMap<string, RequestCount>;
  /** Another user of the account makes so many requests of an action, as far as the bucket has room. */
  use(action: string, count: number): void;
}

/**
 * EC2's bucket for an action: as many requests at once, and as many a second
 * (Amazon EC2 Developer Guide, Request throttling for the Amazon EC2 API).
 */
function bucketOf(action: string): readonly [burst: number, perSecond: number] {
  if (action.startsWith("Describe")) return [100, 20];
  if (action === "TerminateInstances") return [100, 5];
  return action === "CreateTags" ? [100, 10] : [50, 5];
}

/** The attempts and the pauses of the AWS SDK's standard retries: half a second, doubled, in the mean half of it. */
const ATTEMPTS = 5;
const pauseOf = (attempt: number, random: Random): number => Math.ceil(random.next() * Math.min(20_000, 500 * 2 ** attempt));
const THROTTLED_RETRY_MS = 10_000;

export interface Ec2RequestsOptions {
  /** How long EC2 takes for a request of an action, ms; no time when absent. */
  readonly latencyMs?: (action: string) => number;
  /** What a refused request says of the time of the next one, ms; 10 s when absent, and nothing for "unknown". */
  readonly retryAfterMs?: number | "unknown";
}

export function ec2Requests(
  clock: VirtualClock,
  random: Random,
  { latencyMs = () => 0, retryAfterMs = THROTTLED_RETRY_MS }: Ec2RequestsOptions = {},
): Ec2Requests {
  const buckets = new Map<string, { tokens: number; at: number }>();
  const counts = new Map<string, RequestCount>();
  const passes = (action: string): boolean => {
    const [burst, perSecond] = bucketOf(action);
    const now = clock.now();
    const bucket = buckets.get(action) ?? { tokens: burst, at: now };
    buckets.set(action, bucket);
    bucket.tokens = Math.min(burst, bucket.tokens + ((now - bucket.at) / 1_000) * perSecond);
    bucket.at = now;
    if (bucket.tokens < 1) return false;
    bucket.tokens -= 1;
    return true;
  };
  return {
    counts,
    use(action, count) {
      for (let i = 0; i < count && passes(action); i++);
    },
    async make(action, environment) {
      const count = counts.get(action) ?? { passed: 0, throttled: 0, lastAt: 0 };
      counts.set(action, count);
      for (let attempt = 0; ; attempt++) {
        await environment?.pace.turn(action);
        const isPassed = passes(action);
        count[isPassed ? "passed" : "throttled"] += 1;
        const latency = latencyMs(action);
        if (latency > 0) await clock.sleep(latency);
        if (isPassed) {
          count.lastAt = clock.now();
          return;
        }
        await environment?.pace.throttled(action);
        if (attempt === ATTEMPTS - 1)
          throw new ThrottledError("RequestLimitExceeded: Request limit exceeded.", retryAfterMs === "unknown" ? {} : { retryAfterMs });
        await clock.sleep(pauseOf(attempt, random));
      }
    },
  };
}
