import { bundledCatalogue } from "#adapters/catalogue/bundled.ts";
import type { HistoryEntry } from "#core/model/history-entry.ts";
import type { Catalogue } from "#core/offerings/catalogue.ts";
import type { Lab, LabOptions } from "#lab/host.ts";
import { createLab } from "#lab/host.ts";
import type { CallHooks } from "#lab/world/intercept.ts";
import type { ApiObject } from "#manifests/api-object.ts";

export const START = Date.parse("2026-01-01T00:00:00Z");

/** A short sequence of acts; its end is described by the nodes and pods that exist. */
export interface Story {
  readonly name: string;
  readonly objects: readonly ApiObject[];
  /** Settings on top of the lab's own. */
  readonly settings?: LabOptions["settings"];
  /** What users do, and how long (ms) the world then runs. */
  readonly acts: readonly { readonly what: string; readonly wait: number; readonly act: (lab: Lab) => void }[];
}

export const NODE_CLASS: ApiObject = {
  apiVersion: "karpenter.k8s.aws/v1",
  kind: "EC2NodeClass",
  metadata: { name: "default" },
  spec: {
    role: "KarpenterNodeRole-lab",
    amiSelectorTerms: [{ alias: "al2023@latest" }],
    subnetSelectorTerms: [{ tags: { "karpenter.sh/discovery": "lab" } }],
    securityGroupSelectorTerms: [{ tags: { "karpenter.sh/discovery": "lab" } }],
  },
};

export function nodePool(requirements: readonly object[], spec: object = {}): ApiObject {
  return {
    apiVersion: "karpenter.sh/v1",
    kind: "NodePool",
    metadata: { name: "default" },
    spec: {
      template: {
        spec: { requirements, nodeClassRef: { group: "karpenter.k8s.aws", kind: "EC2NodeClass", name: "default" }, expireAfter: "720h" },
      },
      limits: { cpu: 1000 },
      disruption: { consolidationPolicy: "WhenEmptyOrUnderutilized", consolidateAfter: "30s" },
      ...spec,
    },
  };
}

export function deployment(replicas: number, requests: object): ApiObject {
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name: "inflate", namespace: "default" },
    spec: {
      replicas,
      selector: { matchLabels: { app: "inflate" } },
      template: {
        metadata: { labels: { app: "inflate" } },
        spec: { terminationGracePeriodSeconds: 0, containers: [{ name: "inflate", image: "pause", resources: { requests } }] },
      },
    },
  };
}

const ROOM: ApiObject = {
  apiVersion: "v1",
  kind: "PodTemplate",
  metadata: { name: "room", namespace: "default" },
  template: { spec: { containers: [{ name: "main", image: "pause", resources: { requests: { cpu: "1" } } }] } },
};

const SPARE: ApiObject = {
  apiVersion: "autoscaling.x-k8s.io/v1beta1",
  kind: "CapacityBuffer",
  metadata: { name: "spare", namespace: "default" },
  spec: { podTemplateRef: { name: "room" }, replicas: 1 },
};

export const ON_DEMAND = { key: "karpenter.sh/capacity-type", operator: "In", values: ["on-demand"] };
export const SPOT = { key: "karpenter.sh/capacity-type", operator: "In", values: ["spot"] };
export const FAMILIES = { key: "karpenter.k8s.aws/instance-family", operator: "In", values: ["m5", "c5"] };
const STAYS = { disruption: { consolidateAfter: "Never" } };
const ONE_ZONE = { key: "topology.kubernetes.io/zone", operator: "In", values: ["us-west-2a"] };
const only = (type: string) => ({ key: "node.kubernetes.io/instance-type", operator: "In", values: [type] });
const scale =
  (replicas: number) =>
  (lab: Lab): void =>
    lab.world.scale("Deployment", "default", "inflate", replicas);

const MINUTE = 60_000;

/** A NodePool that sleeps from six minutes after midnight, and wakes six minutes later. */
function asleepAtSix(): ApiObject {
  const pool = nodePool([ON_DEMAND, FAMILIES]);
  const annotations = { "karpenter-serverless/schedule": "6 0 * * * for 11m", "karpenter-serverless/max-price-per-hour": "50" };
  return { ...pool, metadata: { ...pool.metadata, annotations } };
}

/** The stories that are killed at each of their remote calls. */
export const STORIES: readonly Story[] = [
  {
    name: "scale-up",
    objects: [NODE_CLASS, nodePool([ON_DEMAND, FAMILIES]), deployment(0, { cpu: "1" })],
    acts: [{ what: "0 to 5 replicas", wait: 6 * MINUTE, act: scale(5) }],
  },
  {
    name: "bulk",
    // One pod fills a node, and the second NodePool takes the pods that the first has no capacity for.
    objects: [
      NODE_CLASS,
      nodePool([ON_DEMAND, only("c5.large"), ONE_ZONE], { weight: 10, ...STAYS }),
      { ...nodePool([ON_DEMAND, only("m5.large"), ONE_ZONE], STAYS), metadata: { name: "spare" } },
      deployment(0, { cpu: "1500m" }),
    ],
    acts: [
      {
        what: "0 to 6 replicas, with capacity for 4 of them",
        wait: 6 * MINUTE,
        act: (lab) => {
          lab.cloud.outages.push({ instanceType: "c5.large", left: 4 });
          scale(6)(lab);
        },
      },
    ],
  },
  {
    name: "scale-down",
    objects: [NODE_CLASS, nodePool([ON_DEMAND, FAMILIES]), deployment(0, { cpu: "1" })],
    acts: [
      { what: "0 to 2 replicas", wait: 3 * MINUTE, act: scale(2) },
      { what: "2 to 0 replicas", wait: 8 * MINUTE, act: scale(0) },
    ],
  },
  {
    name: "replace",
    objects: [NODE_CLASS, nodePool([ON_DEMAND, FAMILIES]), deployment(0, { cpu: "1" })],
    acts: [
      { what: "0 to 7 replicas", wait: 3 * MINUTE, act: scale(7) },
      { what: "7 to 1 replica", wait: 12 * MINUTE, act: scale(1) },
    ],
  },
  {
    name: "headroom",
    settings: { capacityBuffer: true },
    objects: [NODE_CLASS, nodePool([ON_DEMAND, FAMILIES]), deployment(0, { cpu: "1" }), ROOM],
    acts: [
      { what: "a buffer for 1 pod", wait: 2 * MINUTE, act: (lab) => lab.world.apply(SPARE) },
      { what: "0 to 1 replica, in its room", wait: 3 * MINUTE, act: scale(1) },
      { what: "the buffer goes", wait: 5 * MINUTE, act: (lab) => void lab.world.delete("CapacityBuffer", "spare", "default") },
    ],
  },
  {
    // Also under price caps that are far: what they write must not matter.
    name: "sleep",
    settings: { stackMaxPricePerHour: 100 },
    objects: [NODE_CLASS, asleepAtSix(), deployment(0, { cpu: "1" })],
    acts: [
      { what: "0 to 3 replicas", wait: 4 * MINUTE, act: scale(3) },
      { what: "the night begins", wait: 5 * MINUTE, act: () => {} },
      { what: "the night ends", wait: 6 * MINUTE, act: () => {} },
    ],
  },
  {
    name: "interruption",
    objects: [NODE_CLASS, nodePool([SPOT, FAMILIES]), deployment(0, { cpu: "1" })],
    acts: [
      { what: "0 to 2 replicas", wait: 3 * MINUTE, act: scale(2) },
      {
        what: "interruption notice",
        wait: 8 * MINUTE,
        act: (lab) => {
          const running = lab.cloud.machines().filter(({ instance }) => instance.state === "running");
          if (running[0]) lab.cloud.interruptSpot(running[0].instance.id);
        },
      },
    ],
  },
];

/** The state at the end of a story, in terms that do not depend on names and times. */
export interface Ending {
  readonly nodes: readonly string[];
  readonly runningPods: number;
  readonly pendingPods: number;
  readonly claims: number;
  readonly records: number;
  readonly commands: number;
  readonly instances: readonly string[];
  readonly taintedNodes: number;
  /** Of each NodeClaim, what the history tells, in order: each decision once. Commands have lines of their own. */
  readonly history: readonly string[];
}

interface Running {
  readonly lab: Lab;
  readonly ending: Ending;
}

/** Two families: enough for a choice, and a story takes a tenth of the time. */
export const CATALOGUE: Catalogue = (() => {
  const all = bundledCatalogue("us-west-2", { withSyntheticSpot: true });
  return { ...all, types: all.types.filter(({ name }) => /^(c5|m5)\./.test(name)) };
})();

export function openLab(seed: number, hooks: CallHooks, options: Pick<LabOptions, "settings" | "newMemory"> = {}): Lab {
  return createLab({
    ...{ seed, start: START, region: "us-west-2", sources: ["notify"], hooks, catalogue: CATALOGUE, ec2: {} },
    ...options,
  });
}

/** Plays a story to its end. */
export async function play(
  story: Story,
  seed: number,
  hooks: CallHooks = {},
  options: Pick<LabOptions, "newMemory"> = {},
): Promise<Running> {
  const lab = openLab(seed, hooks, { ...(story.settings && { settings: story.settings }), ...options });
  for (const object of story.objects) lab.world.apply(object);
  const { clock } = lab.world;
  await clock.run({ until: START + 2 * MINUTE });
  for (const { act, wait } of story.acts) {
    act(lab);
    await clock.run({ until: clock.now() + wait });
  }
  const ending = await endingOf(lab);
  return { lab, ending };
}

async function endingOf({ world, cloud, deps }: Lab): Promise<Ending> {
  const nodes = world.store.list("Node");
  const pods = world.store.list("Pod") as readonly { readonly status?: { readonly phase?: string } }[];
  const alive = cloud.machines().filter(({ instance }) => !["terminated", "shutting-down"].includes(instance.state));
  return {
    nodes: nodes.map(({ metadata }) => metadata.labels?.["node.kubernetes.io/instance-type"] ?? "?").sort(),
    runningPods: pods.filter(({ status }) => status?.phase === "Running").length,
    pendingPods: pods.filter(({ status }) => status?.phase === "Pending").length,
    claims: world.store.list("NodeClaim").length,
    records: (await deps.store.list(world.cluster)).length,
    commands: (await deps.store.commands(world.cluster)).length,
    instances: alive.map(({ instance }) => instance.instanceType).sort(),
    taintedNodes: (nodes as readonly { readonly spec?: { readonly taints?: readonly { readonly key: string }[] } }[]).filter(({ spec }) =>
      spec?.taints?.some(({ key }) => key === "karpenter.sh/disrupted"),
    ).length,
    history: toldLives(await deps.store.history(world.cluster, { since: 0, until: world.clock.now() + 1 })),
  };
}

/**
 * Without the pods that waited for a machine, and without what EC2 had no capacity for: how many do, and which of the
 * NodeClaims are told by EC2 and which by the marks of others, depends on the time that a kill costs.
 */
function toldLives(entries: readonly HistoryEntry[]): readonly string[] {
  const decided = entries.filter(({ type }) => type !== "PodsNominated" && type !== "LaunchFailed");
  const lives = Map.groupBy(decided, (entry) => ("nodeClaim" in entry ? entry.nodeClaim : "commandId" in entry ? entry.commandId : ""));
  return [...lives.values()]
    .map((life) => life.map((entry) => ("reason" in entry ? `${entry.type} ${entry.reason}` : entry.type)).join(", "))
    .sort();
}
