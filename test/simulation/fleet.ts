/*
 * One stack that serves many clusters: how long pods wait for their machines in a cluster alone and among the others,
 * and what is lost. In: the number of clusters (USAGE). Out: a table. fleet/lambda.ts models Lambda, and
 * lab/world/queues.ts SQS; the functions, the table and the clusters are those of the simulation.
 */

import { parseArgs } from "node:util";
import { wholeOption } from "../support/number-option.ts";
import type { ClusterSpec } from "./fleet/cluster.ts";
import { playFleet } from "./fleet/play.ts";
import { renderFleet } from "./fleet/table.ts";

const USAGE = `node test/simulation/fleet.ts [options]
  --clusters N      clusters of the stack (100)
  --large N         how many of them have 1,000 nodes (20)
  --nodes N         how many nodes those have (1000)
  --minutes M       virtual minutes (8); pods come from the second on
  --concurrency N   invocations at once that the account may have (1000)
  --alone N         clusters of each kind that are played alone, too (3)
  --dying N         NodeClaims that are on their way when the API server of the dead cluster ends (0)
  --healthy         no hostile cluster and none whose API server dies
  --seed S          (1)

The last cluster but one is hostile: objects that hurt, and pods that come and go each second. The API server of the last
one answers nothing from the fourth minute on. Waits are from Unschedulable until CreateFleet has answered. CPU time is
measured, so that figures differ a little from run to run.`;

function options() {
  const { values } = parseArgs({
    options: {
      clusters: { type: "string", default: "100" },
      large: { type: "string", default: "20" },
      nodes: { type: "string", default: "1000" },
      minutes: { type: "string", default: "8" },
      concurrency: { type: "string", default: "1000" },
      alone: { type: "string", default: "3" },
      dying: { type: "string", default: "0" },
      healthy: { type: "boolean", default: false },
      seed: { type: "string", default: "1" },
      help: { type: "boolean", default: false },
    },
  });
  return {
    clusters: wholeOption("clusters", values.clusters, 1),
    large: wholeOption("large", values.large, 0),
    nodes: wholeOption("nodes", values.nodes, 1),
    minutes: wholeOption("minutes", values.minutes, 4),
    concurrency: wholeOption("concurrency", values.concurrency, 1),
    alone: wholeOption("alone", values.alone, 0),
    seed: wholeOption("seed", values.seed, 0),
    dying: wholeOption("dying", values.dying, 0),
    healthy: values.healthy,
    help: values.help,
  };
}

type Options = ReturnType<typeof options>;

/** The large clusters come first, the hostile one and the dead one last. */
function specsOf({ clusters, large, nodes, healthy, dying, seed }: Options): readonly ClusterSpec[] {
  // Every other seed: the forks of a source (lab/world/random.ts) are the same for 2n and 2n + 1.
  return Array.from({ length: clusters }, (_, i): ClusterSpec => {
    const left = clusters - 1 - i;
    const kind = !healthy && clusters > 2 && left < 2 ? (left === 0 ? "dead" : "hostile") : i < large ? "large" : "small";
    return {
      name: `${kind}-${i + 1}`,
      seed: seed * 1_000 + 2 * i,
      nodes: kind === "large" ? nodes : 0,
      kind,
      ...(kind === "dead" && { dying }),
    };
  });
}

async function main(): Promise<void> {
  const given = options();
  if (given.help) return console.log(USAGE);
  const { minutes, concurrency: accountConcurrency } = given;
  const clusters = specsOf(given);
  const began = performance.now();
  const seconds = (): string => `${Math.round((performance.now() - began) / 1_000)} s`;
  const chosen = Object.values(Object.groupBy(clusters, ({ kind }) => kind)).flatMap((kind) => kind.slice(0, given.alone));
  const alone = [];
  for (const spec of chosen) {
    alone.push(...(await playFleet({ clusters: [spec], minutes, accountConcurrency })).clusters);
    console.error(`… ${spec.name} alone, ${seconds()}`);
  }
  const onMinute = (minute: number): void => console.error(`… all ${clusters.length}, minute ${minute} of ${minutes}, ${seconds()}`);
  const among = await playFleet({ clusters, minutes, accountConcurrency, onMinute });
  console.log(renderFleet(among, alone).join("\n"));
  const ordinary = among.clusters.filter(({ spec }) => spec.kind === "small" || spec.kind === "large");
  if (ordinary.some((one) => one.lostPods + one.lostDecisions + one.deadLetters + one.violations.length > 0)) process.exitCode = 1;
}

try {
  await main();
} catch (error) {
  if (!(error instanceof Error)) throw error;
  console.error(`${error.message}\n${USAGE}`);
  process.exitCode = 2;
}
