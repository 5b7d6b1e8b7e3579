import { isDeepStrictEqual } from "node:util";
import { AwsError } from "./errors.ts";

/** One request that the fake received. */
export type Call = {
  readonly number: number;
  /** Epoch milliseconds. */
  readonly time: number;
  readonly service: string;
  readonly action: string;
  readonly accessKey: string;
  /** The owner of that key, from the option `identify`. */
  readonly role: string;
  /** Decoded parameters; strings over 200 characters are cut. */
  readonly params: Readonly<Record<string, unknown>>;
  readonly requestId: string;
  /** `ok`, an error code, or `dropped`. */
  outcome: string;
};

export type CallMatch = {
  readonly role?: string;
  readonly accessKey?: string;
  /** Parameters that must be equal, or contain these when they are objects or lists. */
  readonly params?: Readonly<Record<string, unknown>>;
};

/** Pools without capacity; an absent field matches all pools. */
export type EmptyPool = {
  readonly instanceType?: string;
  readonly zone?: string;
  readonly capacityType?: "on-demand" | "spot";
  /** Instances that all matching pools together can still launch. Default 0. */
  readonly available?: number;
  /** Default InsufficientInstanceCapacity. */
  readonly code?: string;
  readonly message?: string;
};

/** A fault. Exactly one of `error` … `partial` is set; `delayMs` combines with any of them. */
export type Fault = {
  /** `CreateFleet`, `ec2:CreateFleet`, `ec2:*` or `*`. */
  readonly action: string;
  readonly match?: CallMatch | ((call: Call) => boolean);
  /** How many calls the fault hits; default: all calls until the fault is removed. */
  readonly times?: number;
  /** Number of calls that pass before the fault begins. */
  readonly after?: number;
  readonly error?: { readonly code: string; readonly message?: string; readonly status?: number };
  readonly throttle?: true;
  readonly delayMs?: number;
  /** Closes the connection before the effect of the call. */
  readonly dropConnection?: true;
  /** Closes the connection after the effect of the call, so that the caller cannot know the result. */
  readonly dropConnectionAfterEffect?: true;
  /** CreateFleet and RunInstances: these pools have no capacity. */
  readonly ice?: EmptyPool;
  /** CreateFleet: the maximum number of instances, whatever is requested. */
  readonly partial?: number;
};

export type ActiveFault = Fault & { readonly id: number; hits: number; skipped: number; taken: number };

export type FaultBook = {
  /** Adds a fault and returns its id. */
  add(fault: Fault): number;
  remove(id: number): void;
  clear(): void;
  list(): readonly ActiveFault[];
  /** The faults that hit this call. Counts a hit for each except `ice`, whose hits CreateFleet counts with `hit`. */
  meet(call: Call): readonly ActiveFault[];
  hit(fault: ActiveFault): void;
};

export function faultBook(): FaultBook {
  let faults: ActiveFault[] = [];
  let lastId = 0;
  const hit = (fault: ActiveFault) => {
    fault.hits += 1;
    if (fault.times !== undefined && fault.hits >= fault.times) faults = faults.filter((other) => other !== fault);
  };
  return {
    add(fault) {
      lastId += 1;
      faults.push({ ...fault, id: lastId, hits: 0, skipped: 0, taken: 0 });
      return lastId;
    },
    remove(id) {
      faults = faults.filter((fault) => fault.id !== id);
    },
    clear() {
      faults = [];
    },
    list: () => faults,
    meet(call) {
      const met: ActiveFault[] = [];
      for (const fault of faults) {
        if (!namesAction(fault.action, call) || !matches(fault.match, call)) continue;
        if (fault.skipped < (fault.after ?? 0)) {
          fault.skipped += 1;
          continue;
        }
        met.push(fault);
      }
      for (const fault of met) if (!fault.ice) hit(fault);
      return met;
    },
    hit,
  };
}

const namesAction = (pattern: string, call: Call): boolean =>
  ["*", `${call.service}:*`, call.action, `${call.service}:${call.action}`].includes(pattern);

function matches(match: Fault["match"], call: Call): boolean {
  if (match === undefined) return true;
  if (typeof match === "function") return match(call);
  if (match.role !== undefined && match.role !== call.role) return false;
  if (match.accessKey !== undefined && match.accessKey !== call.accessKey) return false;
  return match.params === undefined || contains(call.params, match.params);
}

/** Whether `whole` has all of `part`: objects by key, lists by "some element has it". */
function contains(whole: unknown, part: unknown): boolean {
  if (Array.isArray(part)) {
    return Array.isArray(whole) && part.every((wanted) => whole.some((item) => contains(item, wanted)));
  }
  if (typeof part === "object" && part !== null) {
    if (typeof whole !== "object" || whole === null) return false;
    return Object.entries(part).every(([key, value]) => contains((whole as Record<string, unknown>)[key], value));
  }
  return isDeepStrictEqual(whole, part);
}

/** EC2's request quota: a token bucket; each call takes one token. */
export type TokenBucket = { readonly capacity: number; readonly refillPerSecond: number };

/**
 * The bucket that EC2 documents for an action (Amazon EC2 Developer Guide, Request throttling for the Amazon EC2 API,
 * Request token bucket sizes and refill rates).
 */
export function documentedBucket(action: string): TokenBucket {
  if (/^(Describe|Get|List|Search)/.test(action)) return { capacity: 100, refillPerSecond: 20 };
  if (action === "TerminateInstances") return { capacity: 100, refillPerSecond: 5 };
  if (action === "CreateTags" || action === "DeleteTags") return { capacity: 100, refillPerSecond: 10 };
  return { capacity: 50, refillPerSecond: 5 };
}

/** Whether the call at `now` (epoch ms) may pass. */
export function tokenBucket({ capacity, refillPerSecond }: TokenBucket, startedAt: number): (now: number) => boolean {
  let tokens = capacity;
  let at = startedAt;
  return (now) => {
    tokens = Math.min(capacity, tokens + ((now - at) / 1000) * refillPerSecond);
    at = now;
    if (tokens < 1) return false;
    tokens -= 1;
    return true;
  };
}

/** The throttling error of each service. */
export function throttled(service: string): AwsError {
  if (service === "ec2") return new AwsError("RequestLimitExceeded", "Request limit exceeded.", 503);
  return new AwsError(service === "iam" || service === "sts" ? "Throttling" : "ThrottlingException", "Rate exceeded");
}
