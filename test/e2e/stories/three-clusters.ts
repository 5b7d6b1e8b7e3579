import { setTimeout as sleep } from "node:timers/promises";
import { deployment, manifest, neverConsolidated, unlimited } from "../arrange.ts";
import { LONG, type Thing } from "../observe.ts";
import { check, count, expect, figure } from "../report.ts";
import { CLUSTER } from "../stage.ts";
import type { TestCluster } from "../support/cluster.ts";
import { eventually } from "../support/wait.ts";
import type { E2eWorld } from "../world.ts";

/** The story's name, as one gives it to `npm run e2e`. */
export const THREE_CLUSTERS = "three-clusters";
export const OTHER_CLUSTERS = ["e2e-two", "e2e-three"];

/** Pods that each healthy cluster asks for, one after the other, in each phase; each needs a machine of its own. */
const STEPS = Number(process.env["THREE_CLUSTERS_STEPS"] ?? 10);
/** Machines of the cluster whose API server freezes and dies. */
const VICTIM_PODS = 3;
const CLUSTER_TAG = "eks:eks-cluster-name";
const APP = "apart";

/**
 * Three API servers and one stack. One of the servers freezes, which accepts connections and answers nothing, and then
 * ends: how long do the pods of the two others wait for their machines?
 */
export async function threeClustersStory(world: E2eWorld): Promise<void> {
  const healthy = [world.cluster, ...world.others.slice(0, 1)];
  const [victim] = world.others.slice(1);
  if (victim === undefined) throw new Error("the story needs a world with three clusters");
  const all = [...healthy, victim];
  await check("each of three clusters has a NodePool that is Ready", async () => {
    await Promise.all(all.map(settle));
  });
  await check("the webhooks are registered", () => world.registerWebhook());
  await check(`the cluster that will freeze has ${VICTIM_PODS} machines`, async () => {
    await scaleTo(victim, VICTIM_PODS);
    await eventually("its machines run", () => machines(world, victim).length === VICTIM_PODS, { timeoutMs: LONG });
  });
  let replicas = 0;
  const phase = async (what: string): Promise<void> => {
    const waits: number[] = [];
    await check(`${STEPS} machines in each of two clusters, ${what}`, async () => {
      const from = replicas;
      replicas += STEPS;
      await Promise.all(healthy.map(async (cluster) => waits.push(...(await waitsOf(world, cluster, from)))));
    });
    console.log(`     seconds: ${waits.map((ms) => (ms / 1_000).toFixed(1)).join(" ")}`);
    const sorted = waits.sort((a, b) => a - b);
    for (const [name, q] of [["p50", 0.5] as const, ["p99", 0.99] as const]) {
      figure(`from a pod to its machine, two clusters, ${what}: ${name}`, sorted[Math.ceil(q * sorted.length) - 1] ?? Number.NaN);
    }
  };
  await phase("with three healthy API servers");
  await check("pods come in the third cluster, and its API server freezes", async () => {
    await scaleTo(victim, 2 * VICTIM_PODS);
    await sleep(500);
    victim.freeze();
  });
  await phase("while the third one answers nothing");
  await check("the frozen API server ends", async () => {
    victim.thaw();
    await victim.stop();
  });
  await phase("while the third one is dead");
  await check("no machine of the third cluster has been ended", async () => {
    const left = machines(world, victim).length;
    expect(left >= VICTIM_PODS, () => `${left} of ${VICTIM_PODS} machines`);
  });
  count("machines of the two clusters", healthy.flatMap((cluster) => machines(world, cluster)).length);
}

const machines = ({ fake }: E2eWorld, { clusterName }: TestCluster) =>
  [...fake.state.instances.values()].filter(
    ({ state, tags }) => tags.get(CLUSTER_TAG) === clusterName && (state === "pending" || state === "running"),
  );

const scaleTo = ({ kubectl }: TestCluster, replicas: number): Promise<string> =>
  kubectl("scale", `deployment/${APP}`, `--replicas=${replicas}`);

async function settle({ kubectl, clusterName }: TestCluster): Promise<void> {
  // The subnets are tagged for the first cluster; each has a node role of its own.
  const pool = neverConsolidated(unlimited(manifest("default"))).replaceAll(
    `KarpenterNodeRole-${CLUSTER}`,
    `KarpenterNodeRole-${clusterName}`,
  );
  await kubectl("apply", "-f", "-", { input: pool });
  await kubectl("apply", "-f", "-", { input: JSON.stringify(deployment(APP, 0, { apart: true })) });
  await kubectl("wait", "--for=condition=Ready", "nodepool/default", `--timeout=${LONG / 1_000}s`);
}

async function runningPods({ get }: TestCluster): Promise<number> {
  const { items } = await get<{ readonly items: readonly Thing[] }>("/api/v1/namespaces/default/pods");
  return items.filter(({ status }) => status?.phase === "Running").length;
}

/** From each step's request for one more pod until EC2 has its machine, ms. */
async function waitsOf(world: E2eWorld, cluster: TestCluster, from: number): Promise<readonly number[]> {
  const waits: number[] = [];
  for (let step = 1; step <= STEPS; step++) {
    await scaleTo(cluster, from + step);
    const began = performance.now();
    await eventually(`${cluster.clusterName} has ${from + step} machines`, () => machines(world, cluster).length >= from + step, {
      timeoutMs: LONG,
      everyMs: 50,
    });
    waits.push(performance.now() - began);
    // kube-scheduler gives a machine that has just come to any pod that it fits: the next one would take it.
    await eventually(`the pods of ${cluster.clusterName} run`, async () => (await runningPods(cluster)) >= from + step, {
      timeoutMs: LONG,
    });
  }
  return waits;
}
