import type { Node } from "../../../core/model/node.ts";
import type { Pod } from "../../../core/model/pod.ts";
import { type Amounts, add, lacking, podRequests, toAmounts } from "../quantity.ts";
import type { MutableObject } from "../store.ts";
import type { LabWorld } from "../world.ts";
import { debounced, isTerminal, isTerminating, nodesOf, podsOf, withCondition } from "./actor.ts";
import { hostPorts, meetsTerm, portsClash, selectsNode, tolerates, untolerated } from "./placement.ts";
import { topologyRules } from "./topology.ts";
import { type VolumeRule, volumeRule } from "./volumes.ts";

const USER = "system:kube-scheduler";
/**
 * Delay of a scheduling pass. On a real API server a pod has its Unschedulable condition some 90 ms after its creation.
 */
const PASS_DELAY_MS = 50;

interface Room {
  readonly node: Node;
  readonly pods: Pod[];
  readonly allocatable: Amounts;
  readonly used: Amounts;
  readonly ports: { ip: string; key: string }[];
}

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
  const rooms = new Map<string, Room>();
  for (const node of nodesOf(world)) {
    rooms.set(node.metadata.name, { node, pods: [], allocatable: toAmounts(node.status?.allocatable), used: new Map(), ports: [] });
  }
  const pending: Pod[] = [];
  for (const pod of podsOf(world)) {
    if (isTerminal(pod)) continue;
    const room = pod.spec.nodeName === undefined ? undefined : rooms.get(pod.spec.nodeName);
    if (room) occupy(room, pod);
    else if (pod.spec.nodeName === undefined && !isTerminating(pod) && isOurs(pod)) pending.push(pod);
  }
  // A stable sort keeps the order of creation among pods of the same priority.
  pending.sort((a, b) => (b.spec.priority ?? 0) - (a.spec.priority ?? 0));
  for (const pod of pending) place(world, [...rooms.values()], pod);
}

function isOurs(pod: Pod): boolean {
  const { schedulerName, schedulingGates } = pod.spec as Pod["spec"] & { readonly schedulingGates?: readonly unknown[] };
  return (schedulerName ?? "default-scheduler") === "default-scheduler" && (schedulingGates ?? []).length === 0;
}

function occupy(room: Room, pod: Pod): void {
  room.pods.push(pod);
  add(room.used, podRequests(pod.spec));
  room.ports.push(...hostPorts(pod));
}

function place(world: LabWorld, rooms: readonly Room[], pod: Pod): void {
  const requests = podRequests(pod.spec);
  const ports = hostPorts(pod);
  const volumes = volumeRule(world, pod);
  const labelsOf = (namespace: string) => world.store.get("Namespace", namespace)?.metadata.labels ?? {};
  const topology = topologyRules(pod, rooms, labelsOf);
  const reasons = new Map<string, number>();
  let best: { readonly room: Room; readonly score: number } | undefined;
  for (const room of rooms) {
    const why = refusals(room, pod, requests, ports, volumes, topology);
    for (const reason of why) reasons.set(reason, (reasons.get(reason) ?? 0) + 1);
    if (why.length > 0) continue;
    const score = scoreOf(room, pod, requests);
    if (!best || score > best.score || (score === best.score && room.node.metadata.name < best.room.node.metadata.name))
      best = { room, score };
  }
  if (best) bind(world, best.room, pod, volumes);
  else
    explain(
      world,
      pod,
      typeof volumes === "string" ? `0/${rooms.length} nodes are available: ${volumes}.` : message(rooms.length, reasons),
    );
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

/** Prefers emptier nodes, as the default profile does. Preferences of the pod and soft taints weigh more. */
function scoreOf({ node, allocatable, used }: Room, pod: Pod, requests: Amounts): number {
  let score = 0;
  for (const name of ["cpu", "memory"]) {
    const all = allocatable.get(name) ?? 0;
    if (all > 0) score += (all - (used.get(name) ?? 0) - (requests.get(name) ?? 0)) / all / 2;
  }
  for (const taint of node.spec.taints ?? []) {
    if (taint.effect === "PreferNoSchedule" && !tolerates(pod.spec.tolerations, taint)) score -= 3;
  }
  for (const { weight, preference } of pod.spec.affinity?.nodeAffinity?.preferredDuringSchedulingIgnoredDuringExecution ?? []) {
    if (meetsTerm(preference, node)) score += weight / 50;
  }
  return score;
}

function bind(world: LabWorld, room: Room, pod: Pod, volumes: VolumeRule | string): void {
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
  occupy(room, (bound ?? pod) as Pod);
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
