import type { Condition } from "#core/model/kubernetes.ts";
import type { Node } from "#core/model/node.ts";
import type { Pod } from "#core/model/pod.ts";
import type { ApiObject } from "#manifests/api-object.ts";

/** A change of an object, as a watch of an API server reports it. */
export interface WatchedChange {
  readonly type: "ADDED" | "MODIFIED" | "DELETED";
  readonly object: ApiObject;
}

/** What is compared: for each question one value, in a form that does not depend on names that are drawn. */
export type Outcome = Readonly<Record<Question, readonly string[]>>;

export const QUESTIONS = ["placement", "phases", "reasons", "histories", "order", "objects"] as const;
export type Question = (typeof QUESTIONS)[number];

const ZONE = "topology.kubernetes.io/zone";
/** Labels that each node has: the host name, the architecture and the zone, in their old and new form. */
const WELL_KNOWN = /(^|\.)kubernetes\.io\//;

/**
 * The outcome of a run.
 *
 * - placement: the pods of each node. Nodes with the same labels and size are interchangeable, and so are zones.
 * - phases: how many pods of each workload are in which phase.
 * - reasons: the messages of PodScheduled of pending pods.
 * - histories: what happened to a pod, in order, by workload.
 * - order: the creations, starts and removals of the pods of StatefulSets that are not parallel.
 * - objects: the ends of Jobs, and what the status of budgets, claims and workloads says.
 */
export function outcomeOf(changes: readonly WatchedChange[]): Outcome {
  const last = new Map<string, ApiObject>();
  const histories = new Map<string, { workload: string; steps: string[] }>();
  const order: string[] = [];
  const parallel = new Set(changes.filter(({ object }) => isParallel(object)).map(({ object }) => object.metadata.name));
  for (const { type, object } of changes) {
    const { uid = "" } = object.metadata;
    const before = last.get(uid);
    if (type === "DELETED") last.delete(uid);
    else last.set(uid, object);
    if (object.kind !== "Pod") continue;
    const pod = object as unknown as Pod;
    const steps = type === "DELETED" ? ["deleted"] : newSteps(pod, before as unknown as Pod | undefined);
    if (steps.length === 0) continue;
    const history = histories.get(uid) ?? { workload: workloadOf(pod), steps: [] };
    histories.set(uid, history);
    history.steps.push(...steps);
    if (!pod.metadata.ownerReferences?.some(({ kind, name }) => kind === "StatefulSet" && !parallel.has(name))) continue;
    order.push(...steps.filter((step) => ["created", "running", "deleted"].includes(step)).map((step) => `${step} ${pod.metadata.name}`));
  }
  const objects = [...last.values()];
  const pods = objects.filter(({ kind }) => kind === "Pod") as unknown as readonly Pod[];
  const nodes = objects.filter(({ kind }) => kind === "Node") as unknown as readonly Node[];
  return {
    placement: placement(nodes, pods),
    phases: counted(pods.map((pod) => `${workloadOf(pod)} ${pod.status?.phase}`)),
    reasons: counted(pods.filter((pod) => !pod.spec.nodeName).map((pod) => `${workloadOf(pod)}: ${reasonOf(pod)}`)),
    histories: counted([...histories.values()].map(({ workload, steps }) => `${workload}: ${steps.join(", ")}`)),
    order,
    objects: objects.flatMap(statusLine).sort(),
  };
}

const isParallel = ({ kind, spec }: ApiObject): boolean =>
  kind === "StatefulSet" && (spec as { readonly podManagementPolicy?: string }).podManagementPolicy === "Parallel";

/** Equal lines together, with their number. */
export function counted(lines: readonly string[]): readonly string[] {
  return [...Map.groupBy(lines, (line) => line)].map(([line, same]) => (same.length === 1 ? line : `${line} ×${same.length}`)).sort();
}

/** The name of the workload: without the hash of a ReplicaSet, the minutes of a CronJob's Job or a drawn ending. */
function workloadOf({ metadata }: Pod): string {
  const owner = metadata.ownerReferences?.find(({ controller }) => controller);
  if (owner === undefined || owner.kind === "StatefulSet") return metadata.name;
  return owner.name.replace(owner.kind === "ReplicaSet" ? /-[a-z0-9]+$/ : /-\d{8}$/, "");
}

function placement(nodes: readonly Node[], pods: readonly Pod[]): readonly string[] {
  const nodeLines = nodes.map((node) => {
    const { name, labels = {} } = node.metadata;
    const own = Object.entries(labels).flatMap(([key, value]) => (WELL_KNOWN.test(key) ? [] : [`${key}=${value}`]));
    const here = counted(pods.filter((pod) => pod.spec.nodeName === name).map(workloadOf));
    return {
      zone: labels[ZONE] ?? "",
      line: `${[...own.sort(), `cpu=${node.status?.allocatable?.["cpu"]}`].join(" ")}: ${here.join(", ")}`,
    };
  });
  const zones = [...Map.groupBy(nodeLines, ({ zone }) => zone).values()].map((inZone) => inZone.map(({ line }) => line).sort());
  return zones
    .sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1))
    .flatMap((lines, i) => lines.map((line) => `zone ${i + 1}: ${line}`));
}

const condition = ({ status }: Pod, type: string): Condition | undefined => status?.conditions?.find((c) => c.type === type);

function reasonOf(pod: Pod): string {
  const scheduled = condition(pod, "PodScheduled");
  if (scheduled === undefined) return "not looked at";
  const nominated = pod.status?.nominatedNodeName ? " (nominated)" : "";
  return `${scheduled.reason}: ${(scheduled.message ?? "").trim()}${nominated}`;
}

/** What has happened to a pod since its version before, in the order in which the control plane writes it. */
function newSteps(pod: Pod, before: Pod | undefined): string[] {
  const facts = (p: Pod | undefined): readonly (readonly [string, boolean])[] => [
    ["created", p !== undefined],
    ["gated", p !== undefined && condition(p, "PodScheduled")?.reason === "SchedulingGated"],
    ["unschedulable", p !== undefined && condition(p, "PodScheduled")?.reason === "Unschedulable"],
    ["nominated", Boolean(p?.status?.nominatedNodeName)],
    ["bound", Boolean(p?.spec.nodeName)],
    ["running", p?.status?.phase === "Running"],
    ...["PreemptionByScheduler", "EvictionByEvictionAPI", "DeletionByTaintManager", "DeletionByPodGC"].map(
      (reason) => [reason, p !== undefined && condition(p, "DisruptionTarget")?.reason === reason] as const,
    ),
    // The fake kubelets of the test cluster end a pod before they remove it, those of the lab do not.
    ["succeeded", p?.status?.phase === "Succeeded" && p.metadata.deletionTimestamp === undefined],
  ];
  const old = facts(before);
  return facts(pod).flatMap(([step, is], i) => (is && !old[i]?.[1] ? [step] : []));
}

/** The fields of a status that both sides keep, by kind. */
const FIELDS: Readonly<Record<string, readonly string[]>> = {
  Deployment: ["replicas", "readyReplicas", "availableReplicas"],
  StatefulSet: ["replicas", "readyReplicas"],
  DaemonSet: ["desiredNumberScheduled", "numberReady"],
  Job: ["active", "succeeded", "failed"],
  PodDisruptionBudget: ["expectedPods", "desiredHealthy", "currentHealthy", "disruptionsAllowed"],
  PersistentVolumeClaim: ["phase"],
};

function statusLine({ kind = "", metadata, status = {} }: ApiObject): readonly string[] {
  const fields = FIELDS[kind];
  if (fields === undefined) return [];
  const values = status as Readonly<Record<string, unknown>>;
  const said = fields.flatMap((field) => (values[field] ? [`${field}=${values[field]}`] : []));
  const ended = ((values["conditions"] ?? []) as readonly Condition[]).filter(
    (c) => kind === "Job" && c.status === "True" && ["Complete", "Failed", "Suspended"].includes(c.type),
  );
  const name = metadata.ownerReferences?.some((o) => o.kind === "CronJob") ? metadata.name.replace(/-\d{8}$/, "") : metadata.name;
  return [`${kind} ${name}: ${[...said, ...ended.map((c) => (c.reason ? `${c.type} (${c.reason})` : c.type))].join(", ")}`];
}
