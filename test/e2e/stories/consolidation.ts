import { apply, applyPool, manifest, quickly, reset, scale } from "../arrange.ts";
import { alive, functionLines, LONG, running } from "../observe.ts";
import { check, expect, figure } from "../report.ts";
import { eventually } from "../support/wait.ts";
import type { E2eWorld } from "../world.ts";

// The consolidation workshops of EKS, with the log lines that their readers search for.

/** The workshops ran in Seoul, which has no c6a. Without c6a, a c5a is the cheapest type in Oregon too. */
const asInSeoul = (text: string): string =>
  text.replace(
    "        - key: karpenter.k8s.aws/instance-generation",
    `        - key: karpenter.k8s.aws/instance-family
          operator: NotIn
          values: ["c6a"]
        - key: karpenter.k8s.aws/instance-generation`,
  );

/** Waits until the remaining instances have these types (sorted, separated by blanks) and the pods run on them. */
async function leftWith(world: E2eWorld, types: RegExp, replicas: number): Promise<void> {
  await eventually(
    `the machines that are left are ${types.source}`,
    async () => {
      const found = alive(world).map((instance) => instance.instanceType);
      if (!types.test(found.sort().join(" "))) throw new Error(`there are ${found.join(", ") || "none"}`);
      return true;
    },
    { timeoutMs: LONG },
  );
  await running(world, "default", replicas);
}

/** Checks the log line of the last command since a moment, word for word. */
async function expectLine(world: E2eWorld, from: number, line: RegExp): Promise<void> {
  await eventually("the last command is so worded", () => {
    const found = functionLines(world, from, "disrupting nodeclaim(s)").map(({ message }) => message);
    if (line.test(found.at(-1) ?? "")) return true;
    throw new Error(found.join("\n     ") || "no such line in the functions' log");
  });
}

/** A c5a.2xlarge with one remaining pod is replaced by a c5a.large. */
export async function replaceStory(world: E2eWorld): Promise<void> {
  await world.registerWebhook();
  await check("the seed's default NodePool becomes Ready", () => applyPool(world, "default", quickly, asInSeoul));
  await check("five pods of 1 CPU and 1.5Gi run on one c5a.2xlarge", async () => {
    await apply(world, manifest("inflate-cpu"));
    await scale(world, "inflate", 5);
    await running(world, "default", 5);
    await leftWith(world, /^c5a\.2xlarge$/, 5);
  });
  const from = Date.now();
  await check("scaled to one, a c5a.large takes its place", async () => {
    await scale(world, "inflate", 1);
    await leftWith(world, /^c5a\.large$/, 1);
    figure("replace: from the scale-down to the old machine's end (consolidateAfter and 15 s of validation included)", Date.now() - from);
  });
  await check("and the log says so in Karpenter's words", async () =>
    expectLine(
      world,
      from,
      /^disrupting nodeclaim\(s\) via replace, terminating 1 nodes \(1 pods\) \S+\/c5a\.2xlarge\/on-demand and replacing with on-demand node from types c5a\.large, (\S+, ){3}\S+ and \d+ other\(s\)$/,
    ),
  );
  await check("all pods gone, all machines gone", () => clear(world));
}

/**
 * Spot replaces spot under the gate SpotToSpotConsolidation: a second node is launched and removed with its pods, then
 * a smaller node replaces the first.
 */
export async function spotToSpotStory(world: E2eWorld): Promise<void> {
  await world.registerWebhook();
  await check("a spot NodePool becomes Ready", () => applyPool(world, "spot", quickly));
  await check("five pods of 1 CPU and 1.5Gi run on one spot machine", async () => {
    await apply(world, manifest("inflate-cpu"));
    await scale(world, "inflate", 5);
    await running(world, "default", 5);
    await leftWith(world, /^\S+\.2xlarge$/, 5);
  });
  await check("scaled to ten a second one comes; back to five, no more is left than there was", async () => {
    await scale(world, "inflate", 10);
    await running(world, "default", 10);
    // Pods whose wake-ups arrive separately may get one node each.
    expect(alive(world).length >= 2, () => `${alive(world).length} machines`);
    await scale(world, "inflate", 5);
    // The ReplicaSet decides which pods end, and so which node is emptier: the large node is removed, or replaced by
    // half of it.
    await leftWith(world, /^(\S+\.2xlarge|\S+\.xlarge \S+\.xlarge)$/, 5);
  });
  const from = Date.now();
  await check("scaled to one, a smaller spot machine takes its place", async () => {
    await scale(world, "inflate", 1);
    await leftWith(world, /^\S+\.large$/, 1);
    expect(alive(world)[0]?.capacityType === "spot", () => String(alive(world)[0]?.capacityType));
    figure("spot to spot: from the scale-down to the old machine's end", Date.now() - from);
  });
  await check("chosen among the fifteen cheapest types, as the log says", async () =>
    expectLine(
      world,
      from,
      /^disrupting nodeclaim\(s\) via replace, terminating 1 nodes \(1 pods\) \S+\.2?xlarge\/spot and replacing with spot node from types (\S+, ){4}\S+ and 10 other\(s\)$/,
    ),
  );
  await check("all spot machines gone", () => clear(world));
}

async function clear(world: E2eWorld): Promise<void> {
  await reset(world);
  await world.removeWebhook();
}
