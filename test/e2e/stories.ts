import { readFileSync } from "node:fs";
import { join } from "node:path";
import { check, expect, figure } from "./report.ts";
import { eventually } from "./support/wait.ts";
import { CLUSTER, type E2eWorld } from "./world.ts";

const MANIFESTS = join(import.meta.dirname, "../../functions/hosts/lab/stories");
// biome-ignore lint/suspicious/noTemplateCurlyInString: the manifests carry this placeholder
const manifest = (name: string): string => readFileSync(join(MANIFESTS, `${name}.yaml`), "utf8").replaceAll("${CLUSTER_NAME}", CLUSTER);

const MINUTE = 60_000;

interface Thing {
  readonly metadata: {
    readonly name: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly creationTimestamp: string;
    readonly deletionTimestamp?: string;
  };
  readonly spec: { readonly providerID?: string; readonly nodeName?: string };
  readonly status?: {
    readonly phase?: string;
    readonly allocatable?: Readonly<Record<string, string>>;
    readonly conditions?: readonly {
      readonly type: string;
      readonly status: string;
      readonly reason?: string;
      readonly lastTransitionTime: string;
    }[];
  };
}

async function list(world: E2eWorld, ...args: readonly string[]): Promise<readonly Thing[]> {
  return (JSON.parse(await world.cluster.kubectl("get", ...args, "-o", "json")) as { items: readonly Thing[] }).items;
}

const conditionTrue = ({ status }: Thing, type: string): boolean =>
  status?.conditions?.some((c) => c.type === type && c.status === "True") === true;

async function running(world: E2eWorld, namespace: string, count: number, timeoutMs = 2 * MINUTE): Promise<readonly Thing[]> {
  return eventually(
    `${count} pods run`,
    async () => {
      const pods = (await list(world, "pods", "-n", namespace)).filter(({ metadata }) => metadata.deletionTimestamp === undefined);
      return pods.length === count && pods.every(({ status }) => status?.phase === "Running") ? pods : undefined;
    },
    { timeoutMs },
  );
}

/** No node, no claim, no intent, no machine. */
async function gone(world: E2eWorld, timeoutMs = 4 * MINUTE): Promise<void> {
  const left = async (): Promise<string> => {
    const nodes = await list(world, "nodes");
    const claims = await list(world, "nodeclaims");
    const machines = alive(world);
    return [...nodes, ...claims]
      .map(({ metadata }) => metadata.name)
      .concat(
        machines.map(({ id }) => id),
        Array(await world.items("claim#")).fill("record"),
      )
      .join(" ");
  };
  await eventually("nothing is left in EC2, the table or the API server", async () => (await left()) === "", { timeoutMs });
}

function alive(world: E2eWorld) {
  return [...world.fake.state.instances.values()].filter(({ state }) => state !== "terminated" && state !== "shutting-down");
}

/** Watches from the moment of scaling: first Unschedulable, CreateFleet, node Ready, all Running. Seconds as the API server stamps them are too coarse: its audit log has microseconds. */
async function timeScaleUp(
  world: E2eWorld,
  source: string,
  namespace: string,
  deployment: string,
  replicas: number,
  timeoutMs?: number,
): Promise<void> {
  const calls = world.fake.state.calls.length;
  const from = Date.now();
  await world.cluster.kubectl("scale", "-n", namespace, `deployment/${deployment}`, `--replicas=${replicas}`);
  await running(world, namespace, replicas, timeoutMs);
  const unschedulable = await auditTime(
    world,
    from,
    (line) => line.includes('"subresource":"status"') && line.includes('"reason":"Unschedulable"'),
  );
  const ready = await auditTime(world, from, (line) => line.includes('"resource":"nodes"') && line.includes('"reason":"KubeletReady"'));
  const ran = await auditTime(world, from, (line) => line.includes('"subresource":"status"') && line.includes('"phase":"Running"'), true);
  const fleet = world.fake.state.calls.slice(calls).find(({ action }) => action === "CreateFleet");
  if (unschedulable === undefined || ready === undefined || ran === undefined || fleet === undefined)
    throw new Error("the audit log or the call log lacks a step");
  figure(`${source}: from Unschedulable to CreateFleet`, new Date(fleet.time).getTime() - unschedulable);
  figure(`${source}: from Unschedulable to node Ready (machine boots in 1 s, Ready 1 s later)`, ready - unschedulable);
  figure(`${source}: from Unschedulable to the last pod Running`, ran - unschedulable);
}

async function auditTime(world: E2eWorld, from: number, matches: (line: string) => boolean, last = false): Promise<number | undefined> {
  const lines = readFileSync(world.cluster.auditLog, "utf8")
    .split("\n")
    .filter((line) => line !== "" && matches(line));
  const times = lines
    .map((line) => Date.parse((JSON.parse(line) as { stageTimestamp: string }).stageTimestamp))
    .filter((time) => time >= from);
  return last ? times.at(-1) : times[0];
}

/** From a scale-down to the end of the machine. */
async function timeScaleDown(world: E2eWorld, source: string, namespace: string, deployment: string): Promise<void> {
  const from = Date.now();
  const calls = world.fake.state.calls.length;
  await world.cluster.kubectl("scale", "-n", namespace, `deployment/${deployment}`, "--replicas=0");
  await gone(world);
  const ended = world.fake.state.calls.slice(calls).find(({ action }) => action === "TerminateInstances");
  if (ended)
    figure(`${source}: from scale-to-zero to TerminateInstances (consolidateAfter included)`, new Date(ended.time).getTime() - from);
}

async function applyPool(world: E2eWorld, name: string, patch: (text: string) => string = (text) => text): Promise<void> {
  await world.cluster.kubectl("apply", "-f", "-", { input: patch(manifest(name)) });
  await world.cluster.kubectl("wait", "--for=condition=Ready", "nodepool/default", "--timeout=150s");
}

async function reset(world: E2eWorld): Promise<void> {
  await world.cluster.kubectl("delete", "deployments,pdb", "--all", "-n", "default", "--ignore-not-found");
  await world.cluster.kubectl("delete", "nodepools", "--all", "--timeout=120s");
  await gone(world);
}

const quickly = (text: string): string => text.replace("consolidateAfter: 1m", "consolidateAfter: 5s");

/** The seed's lab, heard of through the audit log alone. */
export async function auditStory(world: E2eWorld): Promise<void> {
  await world.cluster.kubectl("create", "namespace", "other");
  await check("the seed's NodePool and EC2NodeClass become Ready", () => applyPool(world, "inflate"));
  await world.listenToAudit();
  await check("audit log alone: five pods of 1Gi run on one new node", () => timeScaleUp(world, "audit log", "other", "inflate", 5));
  await check("it is one m5.large, on-demand, with the allocatable and labels of the seed", async () => {
    await eventually("the claim is initialized", async () => conditionTrue((await list(world, "nodeclaims"))[0] as Thing, "Initialized"));
    const [node, ...others] = await list(world, "nodes");
    const labels = node?.metadata.labels ?? {};
    expect(others.length === 0 && labels["node.kubernetes.io/instance-type"] === "m5.large", () => JSON.stringify(labels));
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
    for (const [key, value] of Object.entries(wanted)) expect(labels[key] === value, () => `${key}=${labels[key]}, not ${value}`);
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

/** The default pool, heard of through the webhook alone. */
export async function notifyStory(world: E2eWorld): Promise<void> {
  await check("the webhook is registered", () => world.registerWebhook());
  await check("the default NodePool becomes Ready", () => applyPool(world, "default", quickly));
  await world.cluster.kubectl("apply", "-f", "-", { input: manifest("inflate-cpu") });
  await check("webhook alone: five pods run on one new node", () => timeScaleUp(world, "webhook", "default", "inflate", 5));
  await check("scaled to one, the large node is replaced by a small one", async () => {
    const [before] = await list(world, "nodes");
    await world.cluster.kubectl("scale", "deployment/inflate", "--replicas=1");
    await eventually(
      "one smaller node is left",
      async () => {
        const nodes = await list(world, "nodes");
        return nodes.length === 1 && nodes[0]?.metadata.name !== before?.metadata.name && conditionTrue(nodes[0] as Thing, "Ready");
      },
      { timeoutMs: 3 * MINUTE },
    );
    await running(world, "default", 1);
  });
  await check("scaled to zero, nothing is left", () => timeScaleDown(world, "webhook", "default", "inflate"));
  await check("the webhook is removed", () => world.removeWebhook());
  await check("a deleted NodePool goes", () => reset(world));
}

/** With both event sources off the sweep still finds the pods. */
export async function sweepStory(world: E2eWorld): Promise<void> {
  await check("the default NodePool becomes Ready, by the sweep", () => applyPool(world, "default", quickly));
  await world.cluster.kubectl("apply", "-f", "-", { input: manifest("inflate-cpu") });
  await check("no event source at all: the sweep finds the pods", () => timeScaleUp(world, "sweep", "default", "inflate", 3, 3 * MINUTE));
  await check("and the empty node", () => timeScaleDown(world, "sweep", "default", "inflate"));
  await check("a deleted NodePool goes", () => reset(world));
}

/** A spot notice on the real bus and queue; the PodDisruptionBudget holds through the eviction API. */
export async function interruptionStory(world: E2eWorld): Promise<void> {
  await check("a spot NodePool becomes Ready", () =>
    applyPool(world, "spot", (text) => text.replace("consolidateAfter: 1m", "consolidateAfter: Never")),
  );
  await world.registerWebhook();
  const pdb = {
    apiVersion: "policy/v1",
    kind: "PodDisruptionBudget",
    metadata: { name: "inflate" },
    spec: { minAvailable: 2, selector: { matchLabels: { app: "inflate" } } },
  };
  await world.cluster.kubectl("apply", "-f", "-", { input: JSON.stringify(pdb) });
  await world.cluster.kubectl("apply", "-f", "-", { input: manifest("inflate-cpu") });
  await check("three pods run on spot", () => timeScaleUp(world, "webhook, spot", "default", "inflate", 3));
  await check("an interrupted node is replaced, then drained, with two pods running all the while", async () => {
    const [victim] = alive(world);
    if (victim === undefined) throw new Error("there is no machine to interrupt");
    let least = Number.POSITIVE_INFINITY;
    let watching = true;
    const watch = (async () => {
      while (watching) {
        const pods = await list(world, "pods", "-n", "default");
        least = Math.min(least, pods.filter((pod) => pod.metadata.deletionTimestamp === undefined && conditionTrue(pod, "Ready")).length);
      }
    })();
    const from = Date.now();
    world.fake.interrupt(victim.id);
    try {
      await eventually(
        "the machine is ended by us, in time",
        async () => victim.state === "terminated" || victim.state === "shutting-down",
        { timeoutMs: 2 * MINUTE },
      );
      figure("interruption: from the notice to TerminateInstances", Date.now() - from);
      await running(world, "default", 3);
      figure("interruption: from the notice to all pods Running elsewhere", Date.now() - from);
    } finally {
      watching = false;
      await watch;
    }
    expect(Date.now() - from < 2 * MINUTE, () => "the drain took longer than the notice gives");
    expect(least >= 2, () => `a moment with ${least} ready pods, the budget asks for 2`);
    const replacement = alive(world)[0];
    expect(replacement !== undefined && replacement.id !== victim.id, () => "no other machine");
  });
  await check("all pods gone, all machines gone", async () => {
    await world.removeWebhook();
    await reset(world);
  });
}
