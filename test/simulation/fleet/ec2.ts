import { ThrottledError } from "../../../core/ports/errors.ts";
import type { Fleet } from "../../../core/ports/fleet.ts";
import { tokenBucket } from "../../../functions/adapters/token-bucket.ts";
import type { VirtualClock } from "../../../lab/world/clock.ts";

/**
 * EC2's request buckets for one account and region, one for each action
 * ("Request throttling for the Amazon EC2 API"): the actions that launch, and those that only read.
 */
const CHANGE = { burst: 50, rate: 5 };
const DESCRIBE = { burst: 100, rate: 20 };
/** The part of a bucket that one process takes (functions/adapters/aws/pace.ts). */
const SHARE = 0.5;
/** Attempts of the SDK at one call (functions/adapters/aws/clients.ts), and its first pause when throttled, ms. */
const ATTEMPTS = 5;
const FIRST_PAUSE_MS = 500;

type Action = "CreateFleet" | "CreateLaunchTemplate" | "DescribeInstances" | "TerminateInstances";

/** The account: how many requests it has refused, and a client for each process. */
export interface Ec2Account {
  readonly throttles: () => number;
  /** The fleet as a process has it that keeps its own pace, and knows the launch templates that it has made. */
  client(fleet: Fleet): Fleet;
}

export function ec2Account(clock: VirtualClock): Ec2Account {
  const buckets = new Map<Action, () => boolean>();
  let throttles = 0;
  const limitOf = (action: Action) => (action.startsWith("Describe") ? DESCRIBE : CHANGE);
  const takes = (action: Action): boolean => {
    const bucket = buckets.get(action) ?? requestBucket(clock, limitOf(action));
    buckets.set(action, bucket);
    return bucket();
  };
  return {
    throttles: () => throttles,
    client(fleet) {
      const turns = new Map<Action, () => Promise<void>>();
      const turnOf = (action: Action): (() => Promise<void>) => {
        const { burst, rate } = limitOf(action);
        const turn = turns.get(action) ?? tokenBucket({ burst: burst * SHARE, rate: rate * SHARE }, { now: clock.now, sleep: clock.sleep });
        turns.set(action, turn);
        return turn;
      };
      const ask = async (action: Action): Promise<void> => {
        for (let attempt = 1; ; attempt++) {
          await turnOf(action)();
          if (takes(action)) return;
          throttles++;
          if (attempt === ATTEMPTS) throw new ThrottledError(`RequestLimitExceeded: ${action}: Request limit exceeded.`);
          await clock.sleep(FIRST_PAUSE_MS * 2 ** (attempt - 1));
        }
      };
      const made = new Set<string>();
      return {
        ...fleet,
        async ensureLaunchTemplate(template) {
          if (!made.has(template.name)) await ask("CreateLaunchTemplate");
          made.add(template.name);
          return fleet.ensureLaunchTemplate(template);
        },
        async launch(request) {
          await ask("CreateFleet");
          return fleet.launch(request);
        },
        async describe(ids) {
          await ask("DescribeInstances");
          return fleet.describe(ids);
        },
        async list(cluster) {
          await ask("DescribeInstances");
          return fleet.list(cluster);
        },
        async terminate(id) {
          await ask("TerminateInstances");
          return fleet.terminate(id);
        },
      };
    },
  };
}

/** Whether a token is there; takes it. */
function requestBucket(clock: VirtualClock, { burst, rate }: { readonly burst: number; readonly rate: number }): () => boolean {
  let tokens = burst;
  let at = clock.now();
  return () => {
    tokens = Math.min(burst, tokens + ((clock.now() - at) / 1_000) * rate);
    at = clock.now();
    if (tokens < 1) return false;
    tokens--;
    return true;
  };
}
