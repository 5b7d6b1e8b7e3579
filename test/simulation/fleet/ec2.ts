import { sharedRequestPace } from "#adapters/aws/request-pace.ts";
import type { NodeClaimStore } from "#core/ports/node-claim-store.ts";
import type { VirtualClock } from "#lab/world/clock.ts";
import type { MakeRequest } from "#lab/world/ec2-environments.ts";
import { type Environment as Ec2Environment, ec2Requests } from "#lab/world/ec2-requests.ts";
import type { Random } from "#lab/world/random.ts";
import { currentEnvironment, type Environment } from "./lambda.ts";

/** The requests of a stack to EC2: how many EC2 has refused, and what makes one from the process that asks. */
export interface Ec2Account {
  readonly throttles: () => number;
  readonly request: MakeRequest;
}

/** EC2 with its documented buckets. Each process keeps the pace that the stack shares, and knows its templates. */
export function ec2Account(clock: VirtualClock, random: Random, store: Pick<NodeClaimStore, "swapPace">): Ec2Account {
  const requests = ec2Requests(clock, random);
  const known = new WeakMap<Environment, Ec2Environment>();
  const environmentOf = (environment: Environment | undefined): Ec2Environment | undefined => {
    if (environment === undefined) return undefined;
    const pace = { store, account: "own/us-west-2", now: clock.now, sleep: clock.sleep };
    const own = known.get(environment) ?? { pace: sharedRequestPace(pace), made: new Map() };
    known.set(environment, own);
    return own;
  };
  return {
    throttles: () => [...requests.counts.values()].reduce((sum, { throttled }) => sum + throttled, 0),
    async request(action, once) {
      const environment = environmentOf(currentEnvironment());
      const template = typeof once === "object" ? once.template : undefined;
      const made = (template === undefined ? undefined : environment?.made.get(template)) ?? requests.make(action, environment);
      if (template === undefined) return made;
      environment?.made.set(template, made);
      try {
        await made;
      } catch (error) {
        environment?.made.delete(template);
        throw error;
      }
    },
  };
}
