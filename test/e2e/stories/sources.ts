import { apply, applyPool, manifest, quickly, reset, scale } from "../arrange.ts";
import { conditionTrue, LONG, list, running, type Thing } from "../observe.ts";
import { check, expect } from "../report.ts";
import { eventually } from "../support/wait.ts";
import type { E2eWorld } from "../world.ts";
import { timeScaleDown, timeScaleUp } from "./timing.ts";

// Scale-up and scale-down with one source of wake-ups alone.

/** The inflate story with wake-ups from the audit log alone. */
export async function auditStory(world: E2eWorld): Promise<void> {
  await world.cluster.kubectl("create", "namespace", "other");
  await check("the NodePool and EC2NodeClass of inflate become Ready", () => applyPool(world, "inflate"));
  await world.listenToAudit();
  await check("audit log alone: five pods of 1Gi run on one new node", () => timeScaleUp(world, "audit log", "other", "inflate", 5));
  await check("it is one m5.large, on-demand, with the expected allocatable and labels", async () => {
    const wanted = {
      "karpenter.sh/capacity-type": "on-demand",
      "karpenter.sh/nodepool": "default",
      "karpenter.sh/initialized": "true",
      "karpenter.k8s.aws/instance-category": "m",
      "karpenter.k8s.aws/instance-cpu": "2",
      "karpenter.k8s.aws/instance-family": "m5",
      "karpenter.k8s.aws/instance-generation": "5",
      "karpenter.k8s.aws/instance-hypervisor": "nitro",
      "karpenter.k8s.aws/instance-memory": "8192",
      "karpenter.k8s.aws/instance-pods": "29",
      "karpenter.k8s.aws/instance-size": "large",
      "kubernetes.io/arch": "amd64",
      "kubernetes.io/os": "linux",
      "topology.kubernetes.io/region": "us-west-2",
      type: "karpenter",
    };
    await eventually(
      "the one node has the labels of the seed, and its claim is initialized",
      async () => {
        const [node, ...others] = await list(world, "nodes");
        const labels = node?.metadata.labels ?? {};
        expect(others.length === 0 && labels["node.kubernetes.io/instance-type"] === "m5.large", () => JSON.stringify(labels));
        for (const [key, value] of Object.entries(wanted)) expect(labels[key] === value, () => `${key}=${labels[key]}, not ${value}`);
        return conditionTrue((await list(world, "nodeclaims"))[0] as Thing, "Initialized");
      },
      { timeoutMs: LONG },
    );
    const [claim] = await list(world, "nodeclaims");
    const { cpu, memory, pods, "vpc.amazonaws.com/pod-eni": eni } = claim?.status?.allocatable ?? {};
    expect(`${cpu} ${memory} ${pods} ${eni}` === "1930m 6903Mi 29 9", () => `${cpu} ${memory} ${pods} ${eni}`);
  });
  await check("kubectl get nodeclaims shows the columns that people know", async () => {
    const table = await world.cluster.kubectl("get", "nodeclaims");
    expect(
      /NAME\s+TYPE\s+CAPACITY\s+ZONE\s+NODE\s+READY\s+AGE/.test(table) && /m5\.large\s+on-demand\s+us-west-2/.test(table),
      () => table,
    );
  });
  await check("scaled to zero, the node, its claim, record and machine go", () => timeScaleDown(world, "audit log", "other", "inflate"));
  await world.stopListening();
  await world.cluster.kubectl("delete", "deployment", "inflate", "-n", "other");
  await check("a deleted NodePool goes", () => reset(world));
}

/** The default NodePool with wake-ups from the webhook alone. */
export async function notifyStory(world: E2eWorld): Promise<void> {
  await check("the webhook is registered", () => world.registerWebhook());
  await check("the default NodePool becomes Ready", () => applyPool(world, "default", quickly));
  await apply(world, manifest("inflate-cpu"));
  await check("webhook alone: five pods run on one new node", () => timeScaleUp(world, "webhook", "default", "inflate", 5));
  await check("scaled to one, the large node is replaced by a small one", async () => {
    const [before] = await list(world, "nodes");
    await scale(world, "inflate", 1);
    await eventually(
      "one smaller node is left",
      async () => {
        const nodes = await list(world, "nodes");
        return nodes.length === 1 && nodes[0]?.metadata.name !== before?.metadata.name && conditionTrue(nodes[0] as Thing, "Ready");
      },
      { timeoutMs: LONG },
    );
    await running(world, "default", 1);
  });
  await check("scaled to zero, nothing is left", () => timeScaleDown(world, "webhook", "default", "inflate"));
  await check("the webhook is removed", () => world.removeWebhook());
  await check("a deleted NodePool goes", () => reset(world));
}

/** With both event sources off, the sweep finds the pods. */
export async function sweepStory(world: E2eWorld): Promise<void> {
  await check("the default NodePool becomes Ready, by the sweep", () => applyPool(world, "default", quickly));
  await apply(world, manifest("inflate-cpu"));
  await check("no event source at all: the sweep finds the pods", () => timeScaleUp(world, "sweep", "default", "inflate", 3));
  await check("and the empty node", () => timeScaleDown(world, "sweep", "default", "inflate"));
  await check("a deleted NodePool goes", () => reset(world));
}
