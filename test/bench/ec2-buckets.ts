/**
 * Nodes that are asked for at once, under EC2's documented buckets of requests: `node test/bench/ec2-buckets.ts
 * [--nodes 2000] [--pace shared|alone|none]`. The lab plays it on a virtual clock, with the real functions: a NodePool
 * with so many replicas, 20 invocations for NodeClaims at once, ten messages each, and an EC2 that takes 1.5 s for a
 * launch and 0.2 s for any other request. Prints a line for each pace: seconds until the last CreateFleet was answered
 * and until all nodes are initialized (to ten seconds), and how many requests of each action passed and were throttled.
 */
import { parseArgs } from "node:util";
import type { RequestPacer } from "#adapters/aws/request-pace.ts";
import { tokenBucket } from "#adapters/aws/token-bucket.ts";
import { bucketOf } from "#core/request-pace/buckets.ts";
import type { LifecycleDeps } from "#functions/shared/cluster-deps.ts";
import { createLab } from "#lab/host.ts";
import { CATALOGUE, NODE_CLASS, nodePool, ON_DEMAND, START } from "../simulation/story.ts";

const MINUTE = 60_000;
const ONE_TYPE = { key: "node.kubernetes.io/instance-type", operator: "In", values: ["m5.large"] };
/** As infra/functions.ts has them for the queue of NodeClaims. */
const AT_ONCE = { batchSize: 10, lifecycles: 20 };
const LONGEST = 60 * MINUTE;

/** Each function by itself at half of the bucket, waiting as long as it takes: as before there was a shared pace. */
function alone({ now, sleep }: Pick<LifecycleDeps, "now" | "sleep">): RequestPacer {
  const turns = new Map<string, () => Promise<void>>();
  return {
    async turn(action) {
      const { burst, perSecond } = bucketOf(action);
      const turn = turns.get(action) ?? tokenBucket({ burst: burst / 2, rate: perSecond / 2 }, { now, sleep });
      turns.set(action, turn);
      await turn();
    },
    throttled: async () => undefined,
  };
}

const PACES: Readonly<Record<string, ((deps: LifecycleDeps) => RequestPacer) | undefined>> = {
  none: () => ({ turn: async () => undefined, throttled: async () => undefined }),
  alone,
  shared: undefined,
};

interface Conditioned {
  readonly status?: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] };
}
const isInitialized = (claim: object): boolean =>
  (claim as Conditioned).status?.conditions?.some(({ type, status }) => type === "Initialized" && status === "True") ?? false;

async function play(name: string, nodes: number): Promise<void> {
  const pace = PACES[name];
  const began = performance.now();
  const lab = createLab({
    ...{ seed: 1, start: START, region: "us-west-2", sources: ["notify"], catalogue: CATALOGUE, batchSize: AT_ONCE.batchSize },
    settings: { staticCapacity: true },
    ec2: {
      ...{ latencyMs: (action) => (action === "CreateFleet" ? 1_500 : 200), lifecycles: AT_ONCE.lifecycles },
      ...(pace && { pace, retryAfterMs: "unknown" }),
    },
  });
  const { clock, store } = lab.world;
  lab.world.apply(NODE_CLASS);
  await clock.run({ until: clock.now() + 2 * MINUTE });
  const asked = clock.now();
  lab.world.apply(nodePool([ON_DEMAND, ONE_TYPE], { limits: {}, replicas: nodes }));
  const launched = () => lab.cloud.machines().length;
  const ready = () => store.list("NodeClaim").filter(isInitialized).length;
  for (let at = asked; at < asked + LONGEST && (launched() < nodes || ready() < nodes); at += 10_000) await clock.run({ until: at });
  const seconds = (at: number): number => Math.round((at - asked) / 100) / 10;
  const requests = Object.fromEntries(
    [...lab.requests.counts].map(([action, { passed, throttled }]) => [action, throttled === 0 ? passed : { passed, throttled }]),
  );
  console.log(
    JSON.stringify({
      ...{ pace: name, nodes, launched: launched(), ready: ready() },
      ...{ lastCreateFleet: seconds(lab.requests.counts.get("CreateFleet")?.lastAt ?? asked), allReady: seconds(clock.now()) },
      ...{ requests, invocationsOfLifecycle: lab.invocations.get("lifecycle"), drawsFromTable: lab.calls.get("store.swapPace") ?? 0 },
      timedOut: lab.log.filter(({ message }) => message === "terminating due to timeout").length,
      realSeconds: Math.round((performance.now() - began) / 100) / 10,
    }),
  );
  lab.close();
}

const { values } = parseArgs({ options: { nodes: { type: "string", default: "2000" }, pace: { type: "string" } } });
for (const name of values.pace === undefined ? Object.keys(PACES) : [values.pace]) await play(name, Number(values.nodes));
