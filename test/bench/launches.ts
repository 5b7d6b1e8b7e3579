/*
 * How many CreateFleet calls a burst of nodes takes, and how long under the buckets that EC2 documents for them.
 * In: numbers of nodes (300 and 2000). Out: a table; the second half plays the burst in the lab, on virtual time.
 */

import { bundledCatalogue } from "#adapters/catalogue/bundled.ts";
import { ThrottledError } from "#core/ports/errors.ts";
import { createLab } from "#lab/host.ts";
import type { PortCall } from "#lab/world/intercept.ts";
import { deployment, FAMILIES, NODE_CLASS, nodePool, ON_DEMAND, START } from "../simulation/story.ts";

/** EC2's bucket of CreateFleet for each account and region. */
const BUCKET = { burst: 50, perSecond: 5 };
/** Most messages of one invocation (infra/stack.ts). */
const BATCH_SIZE = 10;
const MINUTE = 60_000;

interface Burst {
  readonly calls: number;
  readonly throttled: number;
  readonly machines: number;
  /** From the first pod to the last CreateFleet that EC2 has answered. */
  readonly seconds: number;
}

/** Plays a burst of pods of which each fills a node. */
async function play(nodes: number, launchTogether: number | undefined): Promise<Burst> {
  let [calls, throttled, lastAt] = [0, 0, 0];
  let [tokens, filledAt] = [BUCKET.burst, 0];
  const before = ({ method }: PortCall): undefined => {
    if (method !== "launch") return;
    const now = lab.world.clock.now();
    tokens = Math.min(BUCKET.burst, tokens + ((now - filledAt) / 1_000) * BUCKET.perSecond);
    filledAt = now;
    if (tokens < 1) {
      throttled++;
      throw new ThrottledError("RequestLimitExceeded: Request limit exceeded.");
    }
    tokens -= 1;
    calls++;
    lastAt = now;
  };
  const all = bundledCatalogue("us-west-2", { withSyntheticSpot: true });
  const catalogue = { ...all, types: all.types.filter(({ name }) => /^(c5|m5)\.x?large$/.test(name)) };
  const lab = createLab({
    ...{ seed: 1, start: START, region: "us-west-2", sources: ["notify"], catalogue, batchSize: BATCH_SIZE, hooks: { before } },
    settings: { launchTogether },
  });
  const pool = nodePool([ON_DEMAND, FAMILIES], { limits: {}, disruption: { consolidateAfter: "Never" } });
  for (const object of [NODE_CLASS, pool, deployment(0, { cpu: "3500m" })]) lab.world.apply(object);
  await lab.world.clock.run({ until: START + 2 * MINUTE });
  const began = lab.world.clock.now();
  lab.world.scale("Deployment", "default", "inflate", nodes);
  await lab.world.clock.run({ until: () => lab.cloud.machines().length >= nodes, latest: began + 20 * MINUTE });
  const machines = lab.cloud.machines().length;
  lab.close();
  return { calls, throttled, machines, seconds: (lastAt - began) / 1_000 };
}

const sizes = process.argv.slice(2).map(Number);
console.log(
  "| nodes | together | CreateFleet calls | throttled | machines | s to the last CreateFleet |\n| --- | --- | --- | --- | --- | --- |",
);
for (const nodes of sizes.length > 0 ? sizes : [300, 2_000]) {
  for (const together of [undefined, 5]) {
    const { calls, throttled, machines, seconds } = await play(nodes, together);
    console.log(`| ${nodes} | ${together === undefined ? "no" : "yes"} | ${calls} | ${throttled} | ${machines} | ${seconds.toFixed(0)} |`);
  }
}
