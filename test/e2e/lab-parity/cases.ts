import { join } from "node:path";
import type { ApiObject } from "#manifests/api-object.ts";
import { loadManifests } from "#manifests/read.ts";
import { projectRoot } from "../support/paths.ts";

/** What a user does at once, and how long follows. */
export interface Step {
  readonly verb: "apply" | "delete";
  readonly objects: readonly ApiObject[];
  /**
   * Not at all, until nothing has changed for a moment or for as long as kube-scheduler may wait, or so many seconds
   * from
   * the beginning of a minute.
   */
  readonly wait: "none" | "short" | "long" | number;
}

/** Manifests that are played on both sides, on nodes that are there from the start. */
export interface Case {
  readonly name: string;
  /** What it is about, for the table. */
  readonly about: string;
  readonly nodes: readonly ApiObject[];
  /** Why the lab differs on purpose. */
  readonly explained?: string;
  /** The files of test/e2e/lab-parity/manifests in their order, without ".yaml"; the name of the case when absent. */
  readonly files?: readonly { readonly file: string; readonly verb?: Step["verb"]; readonly seconds?: number }[];
}

export const manifestFolder = join(projectRoot, "test", "e2e", "lab-parity", "manifests");

/** Workloads are applied one after the other, because the order in which several are noticed is a matter of chance. */
export function stepsOf({ name, nodes, files = [{ file: name }] }: Case): readonly Step[] {
  const played = files.flatMap(({ file, verb = "apply", seconds }) => {
    const objects = loadManifests([join(manifestFolder, `${file}.yaml`)]).map(({ object }) => object);
    const workloads = objects.filter(isWorkload);
    const waits: readonly Step["wait"][] = [...workloads.map((): "short" => "short").slice(1), seconds ?? "long"];
    const others = objects.filter((object) => !isWorkload(object));
    const first: Step = { verb, objects: others, wait: workloads.length === 0 ? (seconds ?? "long") : "none" };
    return [first, ...workloads.map((object, i): Step => ({ verb, objects: [object], wait: waits[i] ?? "long" }))];
  });
  return [{ verb: "apply", objects: nodes, wait: "none" }, ...played];
}

/** A CronJob has no pods yet. */
const WORKLOADS = new Set(["Deployment", "StatefulSet", "DaemonSet", "Job", "Pod"]);
const isWorkload = ({ kind = "" }: ApiObject): boolean => WORKLOADS.has(kind);

interface Machine {
  readonly isCordoned?: boolean;
  readonly cpu?: string;
  readonly memory?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly taints?: readonly { readonly key: string; readonly value?: string; readonly effect: string }[];
}

/** One node in each of the zones "a b c", which may be named several times. */
function machines(
  zones: string,
  { cpu = "4", memory = "16Gi", labels = {}, taints, isCordoned }: Machine = {},
  prefix = "node",
): ApiObject[] {
  return zones.split(" ").map((letter, i) => {
    const name = `${prefix}-${i + 1}`;
    const zone = `us-west-2${letter}`;
    const amounts = { cpu, memory, pods: "58", "ephemeral-storage": "20Gi" };
    const known = { "kubernetes.io/hostname": name, "kubernetes.io/os": "linux", "kubernetes.io/arch": "amd64" };
    return {
      apiVersion: "v1",
      kind: "Node",
      metadata: { name, labels: { ...known, "topology.kubernetes.io/zone": zone, ...labels } },
      spec: { providerID: `aws:///${zone}/i-${name}`, ...(taints && { taints }), ...(isCordoned && { unschedulable: true }) },
      status: { capacity: amounts, allocatable: amounts },
    };
  });
}

const spot = { labels: { "karpenter.sh/capacity-type": "spot" } };
const onDemand = { labels: { "karpenter.sh/capacity-type": "on-demand" } };

export const CASES: readonly Case[] = [
  { name: "spread-zones", about: "hard spread over zones", nodes: machines("a a b b c c") },
  { name: "spread-soft", about: "soft spread over zones and nodes (ScheduleAnyway)", nodes: machines("a a a b c") },
  { name: "spread-default", about: "the default spread of a Service's pods", nodes: machines("a a b c") },
  { name: "spread-min-domains", about: "minDomains with too few zones", nodes: machines("a a b") },
  {
    name: "rolling-update",
    about: "a rolling update with matchLabelKeys on the revision",
    nodes: machines("a b c"),
    files: [{ file: "rolling-update-1" }, { file: "rolling-update-2" }],
  },
  { name: "anti-affinity", about: "one pod a node, and pods that find none", nodes: machines("a b c") },
  { name: "affinity", about: "a cache beside each server; a group in one zone", nodes: machines("a a b b") },
  { name: "namespace-selector", about: "anti-affinity to pods of other namespaces by namespaceSelector", nodes: machines("a b c") },
  {
    name: "preferred-affinity",
    about: "preferred node and pod affinity, PreferNoSchedule",
    nodes: [
      ...machines("a b", spot, "spot"),
      ...machines("a b", onDemand, "od"),
      ...machines("c", { ...spot, taints: [{ key: "reclaim", effect: "PreferNoSchedule" }] }, "soft"),
    ],
  },
  {
    name: "taints",
    about: "taints, tolerations, cordons, nodeSelector, and messages of pods that fit nowhere",
    nodes: [
      ...machines("a b", {}, "plain"),
      ...machines("c", { isCordoned: true }, "cordoned"),
      ...machines("a", { labels: { team: "ml" }, taints: [{ key: "dedicated", value: "ml", effect: "NoSchedule" }] }, "ml"),
    ],
  },
  {
    name: "no-execute",
    about: "a NoExecute taint with tolerationSeconds",
    nodes: [...machines("a", {}, "plain"), ...machines("b", { taints: [{ key: "maintenance", effect: "NoExecute" }] }, "tainted")],
  },
  {
    name: "resources",
    about: "pods too large for each node, by each resource",
    nodes: [...machines("a b"), ...machines("c", { cpu: "8" }, "large")],
  },
  { name: "init-containers", about: "init containers, sidecars and pod-level requests", nodes: machines("a b", { cpu: "2" }) },
  {
    name: "overhead",
    about: "overhead of a RuntimeClass and its nodeSelector",
    nodes: [...machines("a b", { cpu: "2" }), ...machines("c", { cpu: "2", labels: { sandbox: "kata" } }, "kata")],
  },
  { name: "host-ports", about: "host ports of TCP and UDP, two addresses", nodes: machines("a b") },
  { name: "gates", about: "scheduling gates", nodes: machines("a"), files: [{ file: "gates" }] },
  {
    name: "preemption",
    about: "priorities, preemption, preemptionPolicy Never",
    nodes: machines("a b"),
    files: [{ file: "preemption-1" }, { file: "preemption-2" }],
  },
  {
    name: "preemption-budget",
    about: "preemption spares the pods of a PodDisruptionBudget",
    nodes: machines("a b c"),
    files: [{ file: "preemption-budget-1" }, { file: "preemption-budget-2" }],
  },
  { name: "budgets", about: "PodDisruptionBudgets: numbers, percentages, empty selectors", nodes: machines("a b c") },
  {
    name: "stateful-set",
    about: "an ordered StatefulSet, scaled down; a parallel one",
    nodes: machines("a b c"),
    files: [{ file: "stateful-set-1" }, { file: "stateful-set-2" }],
  },
  {
    name: "daemon-set",
    about: "DaemonSets with selector, toleration and a node that is full",
    nodes: [
      ...machines("a b"),
      ...machines("c", { taints: [{ key: "gpu", effect: "NoSchedule" }], labels: { accelerator: "gpu" } }, "gpu"),
      ...machines("a", { cpu: "200m" }, "small"),
    ],
  },
  { name: "jobs", about: "Jobs: completions, parallelism, work queue, indexed, suspended, TTL", nodes: machines("a b") },
  {
    name: "cron-job",
    about: "CronJobs: Forbid, history, suspended",
    nodes: machines("a"),
    files: [{ file: "cron-job-1", seconds: 130 }, { file: "cron-job-2" }],
  },
  { name: "volumes", about: "claims with WaitForFirstConsumer and local volumes", nodes: machines("a b c") },
  {
    name: "scale-down",
    about: "scaling down prefers pending pods, then crowded nodes",
    nodes: machines("a b"),
    files: [{ file: "scale-down-1" }, { file: "scale-down-2" }, { file: "scale-down-3" }],
  },
  { name: "limit-range", about: "defaults of a LimitRange, with and without limits of a container's own", nodes: machines("a b") },
  {
    name: "quota",
    about: "a ResourceQuota that is used up",
    nodes: machines("a b"),
    explained: "the lab does not enforce ResourceQuota: its manifests are stored and have no effect",
  },
];
