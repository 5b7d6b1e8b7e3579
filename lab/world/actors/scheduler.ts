import type { LabelSelector } from "../../../core/model/kubernetes.ts";
import type { Node } from "../../../core/model/node.ts";
import type { Pod } from "../../../core/model/pod.ts";
import { matchesSelector } from "../../../functions/adapters/manifests/selectors.ts";
import { type Amounts, lacking, podRequests } from "../quantity.ts";
import { hash } from "../random.ts";
import type { MutableObject } from "../store.ts";
import type { LabWorld } from "../world.ts";
import { debounced, isTerminal, isTerminating, nodesOf, podsOf, withCondition } from "./actor.ts";
import { hostPorts, portsClash, selectsNode, tolerates, untolerated } from "./placement.ts";
import { type Room, roomWith, withPod } from "./rooms.ts";
import { scores } from "./scores.ts";
import { topologyRules } from "./topology.ts";
import { type VolumeRule, volumeRule } from "./volumes.ts";

const USER = "system:kube-scheduler";
/**
 * Delay of a scheduling pass. On a real API server a pod has its Unschedulable condition some 90 ms after its creation.
 */
const PASS_DELAY_MS = 50;

/** The nodes of one pass by name. A pod that is bound replaces the room of its node. */
type Rooms = Map<string, Room>;

/** kube-scheduler: binds pending pods, and writes why a pod cannot be scheduled. It has no preemption. */
export function startScheduler(world: LabWorld): void {
  const schedule = debounced(world, "kube-scheduler", PASS_DELAY_MS, () => pass(world));
  world.onChange(({ kind, type, object, old }) => {
    const pod = object as unknown as Pod;
    if (kind === "Pod" && (type === "DELETED" || isTerminal(pod) || !pod.spec.nodeName || isTerminating(pod))) schedule();
    // The status of a heartbeat changes nothing for the scheduler; labels, taints and allocatable do.
    if (kind === "Node" && (type !== "MODIFIED" || old === undefined || nodeMatters(object, old))) schedule();
    if (kind === "PersistentVolumeClaim" || kind === "PersistentVolume") schedule();
  });
}

function nodeMatters(now: object, before: object): boolean {
  const relevant = (o: MutableObject): string => JSON.stringify([o.metadata.labels, o.spec, o.status?.allocatable]);
  return relevant(now) !== relevant(before);
}

function pass(world: LabWorld): void {
  const nodes = nodesOf(world);
  const bound = new Map<string, Pod[]>(nodes.map((node) => [node.metadata.name, []]));
  const pending: Pod[] = [];
  for (const pod of podsOf(world)) {
    if (isTerminal(pod)) continue;
    const { nodeName } = pod.spec;
    if (nodeName === undefined) {
      if (!isTerminating(pod) && isOurs(pod)) pending.push(pod);
    } else bound.get(nodeName)?.push(pod);
  }
  const rooms: Rooms = new Map(nodes.map((node) => [node.metadata.name, roomWith(node, bound.get(node.metadata.name) ?? [])]));
  // A stable sort keeps the order of creation among pods of the same priority.
  pending.sort((a, b) => (b.spec.priority ?? 0) - (a.spec.priority ?? 0));
  for (const pod of pending) place(world, rooms, pod);
}

function isOurs(pod: Pod): boolean {
  const { schedulerName, schedulingGates } = pod.spec as Pod["spec"] & { readonly schedulingGates?: readonly unknown[] };
  return (schedulerName ?? "default-scheduler") === "default-scheduler" && (schedulingGates ?? []).length === 0;
}

function place(world: LabWorld, byName: Rooms, pod: Pod): void {
  const rooms = [...byName.values()];
  const requests = podRequests(pod.spec);
  const ports = hostPorts(pod);
  const volumes = volumeRule(world, pod);
  const labelsOf = (namespace: string) => world.store.get("Namespace", namespace)?.metadata.labels ?? {};
  const topology = topologyRules(pod, rooms, labelsOf);
  const reasons = new Map<string, number>();
  const fitting: Room[] = [];
  for (const room of rooms) {
    const why = refusals(room, pod, requests, ports, volumes, topology);
    for (const reason of why) reasons.set(reason, (reasons.get(reason) ?? 0) + 1);
    if (why.length === 0) fitting.push(room);
  }
  const best = bestOf(
    fitting,
    () => scores(pod, fitting, rooms, { namespaceLabels: labelsOf, ownSelectors: selectorsOf(world, pod) }),
    pod,
  );
  if (best) bind(world, byName, best, pod, volumes);
  else
    explain(
      world,
      pod,
      typeof volumes === "string" ? `0/${rooms.length} nodes are available: ${volumes}.` : message(rooms.length, reasons),
    );
}

/**
 * The room with the highest score. kube-scheduler draws one of several rooms with the same score; here the uid of the
 * pod draws, so that the draw depends on the seed alone and not on the pods before.
 */
function bestOf(fitting: readonly Room[], score: () => readonly number[], { metadata: { uid } }: Pod): Room | undefined {
  if (fitting.length < 2) return fitting[0];
  const of = score();
  const highest = Math.max(...of);
  const ties = fitting.filter((_, i) => of[i] === highest).sort((a, b) => (a.node.metadata.name < b.node.metadata.name ? -1 : 1));
  return ties[hash(uid ?? "") % ties.length];
}

/** The selectors of the Services that select the pod, and of the ReplicaSet, StatefulSet or the like that owns it. */
function selectorsOf(world: LabWorld, { metadata: { labels = {}, namespace, ownerReferences } }: Pod): readonly LabelSelector[] {
  const services = world.store.list("Service").flatMap((service): LabelSelector[] => {
    const selector = (service.spec as { readonly selector?: Readonly<Record<string, string>> } | undefined)?.selector;
    if (service.metadata.namespace !== namespace || !selector || Object.keys(selector).length === 0) return [];
    return matchesSelector({ matchLabels: selector }, labels) ? [{ matchLabels: selector }] : [];
  });
  const owner = ownerReferences?.find((o) => o.controller && (o.kind === "ReplicaSet" || o.kind === "StatefulSet"));
  const spec = world.store.get(owner?.kind ?? "", owner?.name ?? "", namespace)?.spec as { readonly selector?: LabelSelector } | undefined;
  return spec?.selector ? [...services, spec.selector] : services;
}

function refusals(
  { node, used, allocatable, ports: taken }: Room,
  pod: Pod,
  requests: Amounts,
  ports: readonly { ip: string; key: string }[],
  volumes: VolumeRule | string,
  topology: (node: Node) => string | undefined,
): string[] {
  if (typeof volumes === "string") return [volumes];
  if (node.spec.unschedulable && !tolerates(pod.spec.tolerations, { key: "node.kubernetes.io/unschedulable", effect: "NoSchedule" })) {
    return ["node(s) were unschedulable"];
  }
  const taint = untolerated(pod.spec, node.spec.taints);
  if (taint) return [`node(s) had untolerated taint {${taint.key}: ${taint.value ?? ""}}`];
  if (!selectsNode(pod.spec, node)) return ["node(s) didn't match Pod's node affinity/selector"];
  if (portsClash(ports, taken)) return ["node(s) didn't have free ports for the requested pod ports"];
  const free: Amounts = new Map(allocatable);
  for (const [name, amount] of used) free.set(name, (free.get(name) ?? 0) - amount);
  const short = lacking(requests, free);
  if (short.length > 0) return short.map((name) => (name === "pods" ? "Too many pods" : `Insufficient ${name}`));
  const why = volumes.refuses(node) ?? topology(node);
  return why === undefined ? [] : [why];
}

function bind(world: LabWorld, rooms: Rooms, room: Room, pod: Pod, volumes: VolumeRule | string): void {
  if (typeof volumes !== "string") volumes.bind(room.node);
  const bound = world.store.patch(
    "Pod",
    pod.metadata.name,
    pod.metadata.namespace,
    { user: USER, subresource: "binding" },
    (o: MutableObject) => {
      o.spec.nodeName = room.node.metadata.name;
      o.status.conditions = withCondition(o.status.conditions, { type: "PodScheduled", status: "True" }, world.clock.now());
      return o;
    },
  );
  rooms.set(room.node.metadata.name, withPod(room, (bound ?? pod) as Pod));
}

function message(nodes: number, reasons: ReadonlyMap<string, number>): string {
  if (nodes === 0) return "no nodes available to schedule pods";
  const parts = [...reasons].map(([reason, count]) => `${count} ${reason}`).sort();
  return `0/${nodes} nodes are available: ${parts.join(", ")}.`;
}

/**
 * Writes the condition only when its text changes: kube-scheduler never repeats it for an unchanged pod, so a lost
 * event is not sent again.
 */
function explain(world: LabWorld, pod: Pod, text: string): void {
  const old = pod.status?.conditions?.find((c) => c.type === "PodScheduled");
  if (old?.status === "False" && old.message === text) return;
  world.store.patch("Pod", pod.metadata.name, pod.metadata.namespace, { user: USER, subresource: "status" }, (o: MutableObject) => {
    const condition = { type: "PodScheduled", status: "False", reason: "Unschedulable", message: text } as const;
    o.status.conditions = withCondition(o.status.conditions, condition, world.clock.now());
    return o;
  });
}
