import type { Lab } from "../../lab/host.ts";
import { deployment, NODE_CLASS, nodePool, openLab } from "./story.ts";

// `node test/simulation/idle.ts` prints the invocations, calls and cost of one virtual hour of an idle cluster, with no
// node and with some nodes.

const HOUR = 3_600_000;

interface Count {
  readonly invocations: number;
  readonly calls: Readonly<Record<string, number>>;
}

function snapshot({ invocations, calls }: Lab): Count {
  return { invocations: [...invocations.values()].reduce((sum, n) => sum + n, 0), calls: Object.fromEntries(calls) };
}

async function idleHour(replicas: number): Promise<{ readonly nodes: number; readonly count: Count }> {
  const requirements = [{ key: "karpenter.sh/capacity-type", operator: "In", values: ["on-demand"] }];
  const lab = openLab(1, {});
  for (const object of [NODE_CLASS, nodePool(requirements), deployment(replicas, { cpu: "1" })]) lab.world.apply(object);
  const { clock } = lab.world;
  await clock.run({ until: clock.now() + 20 * 60_000 });
  const before = snapshot(lab);
  await clock.run({ until: clock.now() + HOUR });
  const after = snapshot(lab);
  const calls = Object.fromEntries(Object.entries(after.calls).map(([name, n]) => [name, n - (before.calls[name] ?? 0)]));
  const nodes = lab.world.store.list("Node").length;
  lab.close();
  return { nodes, count: { invocations: after.invocations - before.invocations, calls } };
}

/** USD: Lambda on arm64 with 1 GB for 150 ms a run, DynamoDB on demand, SQS; us-west-2 list prices. */
function monthly({ invocations, calls }: Count): number {
  const of = (port: string, pattern: RegExp): number =>
    Object.entries(calls).reduce((sum, [name, n]) => (name.startsWith(`${port}.`) && pattern.test(name) ? sum + n : sum), 0);
  const writes = of("store", /update|write|create|remove|mark|acquire|release|firstSighting|put/);
  const reads = of("store", /get|list|commands|unavailable|byInstance|document/);
  const lambda = invocations * (0.2e-6 + 0.15 * 1.33334e-5);
  return 730 * (lambda + writes * 0.625e-6 + reads * 0.125e-6 + of("wakeUps", /wake/) * 0.4e-6);
}

for (const replicas of [0, 20]) {
  const { nodes, count } = await idleHour(replicas);
  const byPort = Object.groupBy(Object.entries(count.calls), ([name]) => name.split(".")[0] ?? "");
  const sums = Object.entries(byPort).map(([port, entries = []]) => `${port} ${entries.reduce((sum, [, n]) => sum + n, 0)}`);
  console.log(
    `${nodes} nodes: ${count.invocations} invocations an hour; requests: ${sums.sort().join(", ")}; about $${monthly(count).toFixed(2)} a month`,
  );
}
