import type { LabelSelector } from "#core/model/kubernetes.ts";
import type { Node } from "#core/model/node.ts";
import type { Pod } from "#core/model/pod.ts";
import type { PodDisruptionBudget } from "#core/model/workloads.ts";
import { matchesSelector } from "#manifests/selectors.ts";
import { hash } from "../random.ts";
import type { MutableObject } from "../store.ts";
import type { LabWorld } from "../world.ts";
import { debounced, isTerminal, isTerminating, markDisrupted, nodesOf, podsOf, withCondition } from "./actor.ts";
import { eligibility, PREEMPTED, preemption, priorityOf } from "./preemption.ts";
import { type Hint, hintOf } from "./queueing-hints.ts";
import { type Refusal, refusalRule, refusedBeforeFilters, refusedBy, withoutPreemption } from "./refusals.ts";
import { type Room, roomWith, withPod } from "./rooms.ts";
import { scores } from "./scores.ts";
import { topologyRules } from "./topology.ts";
import { type PodVolumeRule, volumeRule } from "./volumes.ts";

const USER = "system:kube-scheduler";
/**
 * Delay of a scheduling pass. On a real API server a pod has its Unschedulable condition some 90 ms after its creation.
 */
const PASS_DELAY_MS = 50;

/** The state of one pass. */
interface Pass {
  /** The nodes by name. A pod that is bound or removed replaces the room of its node. */
  readonly rooms: Map<string, Room>;
  /** The pending pods that wait for room on a node, by uid. */
  readonly nominated: Map<string, Nominated>;
}

interface Nominated {
  readonly pod: Pod;
  readonly node: string;
}

/**
 * kube-scheduler: binds pending pods, writes why a pod cannot be scheduled, and preempts pods of lower priority.
 */
export function startScheduler(world: LabWorld): void {
  const hints: Hint[] = [];
  const schedule = debounced(world, "kube-scheduler", PASS_DELAY_MS, () => pass(world, hints.splice(0)));
  world.onChange((change) => {
    const hint = hintOf(change);
    if (hint === undefined) return;
    hints.push(hint);
    schedule();
  });
}

function pass(world: LabWorld, hints: readonly Hint[]): void {
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
  const rooms = new Map(nodes.map((node) => [node.metadata.name, roomWith(node, bound.get(node.metadata.name) ?? [])]));
  // A stable sort keeps the order of creation among pods of the same priority.
  pending.sort((a, b) => priorityOf(b) - priorityOf(a));
  const nominated = new Map<string, Nominated>();
  for (const pod of pending) {
    const node = pod.status?.nominatedNodeName;
    if (node) nominated.set(pod.metadata.uid ?? "", { pod, node });
  }
  for (const pod of pending) if (hints.some((mayHelp) => mayHelp(pod))) place(world, { rooms, nominated }, pod);
}

function isOurs(pod: Pod): boolean {
  const { schedulerName, schedulingGates } = pod.spec as Pod["spec"] & { readonly schedulingGates?: readonly unknown[] };
  return (schedulerName ?? "default-scheduler") === "default-scheduler" && (schedulingGates ?? []).length === 0;
}

function place(world: LabWorld, state: Pass, pod: Pod): void {
  const { uid = "" } = pod.metadata;
  const rooms = [...state.rooms.values()];
  const volumes = volumeRule(world, pod);
  if (typeof volumes === "string") {
    state.nominated.delete(uid);
    explain(world, pod, refusedBeforeFilters(rooms.length, volumes), undefined);
    return;
  }
  const labelsOf = (namespace: string) => world.store.get("Namespace", namespace)?.metadata.labels ?? {};
  const filter = filterOf(state, pod, volumes, labelsOf);
  const room = state.rooms.get(state.nominated.get(uid)?.node ?? "");
  // A nominated node that fits the pod is taken without a look at the others.
  if (room && filter(room) === undefined) {
    bind(world, state, room, pod, volumes);
    return;
  }
  const refusals = new Map<Room, Refusal>();
  for (const room of rooms) {
    const refusal = filter(room);
    if (refusal) refusals.set(room, refusal);
  }
  const fitting = rooms.filter((room) => !refusals.has(room));
  const best = bestOf(
    fitting,
    () => scores(pod, fitting, rooms, { namespaceLabels: labelsOf, ownSelectors: selectorsOf(world, pod) }),
    pod,
  );
  if (best) {
    bind(world, state, best, pod, volumes);
    return;
  }
  const refused = refusedBy(
    rooms.length,
    [...refusals.values()].flatMap(({ reasons }) => reasons),
  );
  const { node, why } = rooms.length === 0 ? { node: undefined, why: undefined } : preempt(world, state, pod, refusals, filter);
  if (node === undefined) state.nominated.delete(uid);
  else state.nominated.set(uid, { pod, node });
  explain(world, pod, why === undefined ? refused : withoutPreemption(refused, why), node);
}

/**
 * Makes room for the pod on one node. `node` is the node that the pod waits for, and `why` says why there is no
 * preemption. The victims stay on the node until their grace period is over, and the pod waits for them.
 */
function preempt(
  world: LabWorld,
  state: Pass,
  pod: Pod,
  refusals: ReadonlyMap<Room, Refusal>,
  filter: (room: Room) => Refusal | undefined,
): { readonly node: string | undefined; readonly why: string | undefined } {
  const nominated = state.nominated.get(pod.metadata.uid ?? "")?.node;
  const room = state.rooms.get(nominated ?? "");
  const { why, isWaiting } = eligibility(pod, room, room && refusals.get(room));
  if (why !== undefined) return { node: isWaiting ? nominated : undefined, why };
  const budgets = world.store.list("PodDisruptionBudget") as unknown as readonly PodDisruptionBudget[];
  const { chosen, reasons } = preemption(pod, refusals, budgets, world.clock.now(), filter, (ties) =>
    drawn(ties, ({ room }) => room.node.metadata.name, pod),
  );
  if (!chosen) return { node: undefined, why: refusedBy(refusals.size, reasons) };
  const { node } = chosen.room;
  const { name } = node.metadata;
  for (const victim of chosen.victims) if (!isTerminating(victim)) remove(world, victim);
  const left = chosen.room.pods.flatMap((p) => (world.store.byUid(p.metadata.uid ?? "") as unknown as Pod | undefined) ?? []);
  state.rooms.set(name, roomWith(node, left));
  // A pod of lower priority that was nominated to the node looks for another one.
  for (const [uid, other] of state.nominated) {
    if (other.node !== name || priorityOf(other.pod) >= priorityOf(pod)) continue;
    state.nominated.delete(uid);
    writeStatus(world, other.pod, (status) => {
      delete status.nominatedNodeName;
    });
  }
  return { node: name, why: undefined };
}

function remove(world: LabWorld, victim: Pod): void {
  const { name, namespace, uid } = victim.metadata;
  markDisrupted(world, victim, USER, PREEMPTED, "default-scheduler: preempting to accommodate a higher priority pod");
  world.store.delete("Pod", name, { namespace, uid }, { user: USER });
}

function writeStatus(world: LabWorld, { metadata: { name, namespace } }: Pod, change: (status: MutableObject) => void): void {
  world.store.patch("Pod", name, namespace, { user: USER, subresource: "status" }, (o: MutableObject) => {
    change(o.status);
    return o;
  });
}

/**
 * Why a room refuses the pod, as a function of the room; undefined when it fits. A node must fit the pod both with and
 * without the pods of the same or a higher priority that are nominated to it, because those may yet end elsewhere
 * (kubernetes: pkg/scheduler/framework/runtime/framework.go, frameworkImpl.RunFilterPluginsWithNominatedPods).
 */
function filterOf(
  state: Pass,
  pod: Pod,
  volumes: PodVolumeRule,
  labelsOf: (namespace: string) => Readonly<Record<string, string>>,
): (room: Room) => Refusal | undefined {
  const rule = refusalRule(pod, volumes);
  const cluster = [...state.rooms.values()];
  let usual: ReturnType<typeof topologyRules> | undefined;
  const topologyWith = (room: Room) => (node: Node) => {
    if (state.rooms.get(node.metadata.name) === room) {
      usual ??= topologyRules(pod, cluster, labelsOf);
      return usual(node);
    }
    const changed = cluster.map((other) => (other.node.metadata.name === node.metadata.name ? room : other));
    return topologyRules(pod, changed, labelsOf)(node);
  };
  const why = (room: Room): Refusal | undefined => rule(room, topologyWith(room));
  return (room) => {
    const expected = [...state.nominated.values()].filter(
      (other) =>
        other.node === room.node.metadata.name && other.pod.metadata.uid !== pod.metadata.uid && priorityOf(other.pod) >= priorityOf(pod),
    );
    const refused = expected.length === 0 ? undefined : why(expected.reduce((sum, other) => withPod(sum, other.pod), room));
    return refused ?? why(room);
  };
}

/**
 * The room with the highest score. kube-scheduler draws one of several rooms with the same score; here the uid of the
 * pod draws, so that the draw depends on the seed alone and not on the pods before.
 */
function bestOf(fitting: readonly Room[], score: () => readonly number[], pod: Pod): Room | undefined {
  if (fitting.length < 2) return fitting[0];
  const of = score();
  const highest = Math.max(...of);
  const ties = fitting.filter((_, i) => of[i] === highest);
  return drawn(ties, (room) => room.node.metadata.name, pod);
}

function drawn<T>(ties: readonly T[], nameOf: (one: T) => string, { metadata: { uid = "" } }: Pod): T | undefined {
  return [...ties].sort((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1))[hash(uid) % Math.max(1, ties.length)];
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

function bind(world: LabWorld, { rooms, nominated }: Pass, room: Room, pod: Pod, volumes: PodVolumeRule): void {
  if (volumes.isWaiting) {
    // kube-scheduler says where the pod will be before it waits for volumes.
    writeStatus(world, pod, (status) => {
      status.nominatedNodeName = room.node.metadata.name;
    });
  }
  volumes.bind(room.node);
  const bound = world.store.patch(
    "Pod",
    pod.metadata.name,
    pod.metadata.namespace,
    { user: USER, subresource: "binding" },
    (o: MutableObject) => {
      o.spec.nodeName = room.node.metadata.name;
      delete o.status.nominatedNodeName;
      o.status.conditions = withCondition(o.status.conditions, { type: "PodScheduled", status: "True" }, world.clock.now());
      return o;
    },
  );
  rooms.set(room.node.metadata.name, withPod(room, (bound ?? pod) as Pod));
  nominated.delete(pod.metadata.uid ?? "");
}

/**
 * Writes the condition and the nominated node only when they change: kube-scheduler never repeats them for an unchanged
 * pod, so a lost event is not sent again.
 */
function explain(world: LabWorld, pod: Pod, text: string, nominatedNodeName: string | undefined): void {
  const { status: written } = (world.store.byUid(pod.metadata.uid ?? "") ?? pod) as Pod;
  const old = written?.conditions?.find((c) => c.type === "PodScheduled");
  if (old?.status === "False" && old.message === text && written?.nominatedNodeName === nominatedNodeName) return;
  writeStatus(world, pod, (status) => {
    const condition = { type: "PodScheduled", status: "False", reason: "Unschedulable", message: text } as const;
    status.conditions = withCondition(status.conditions, condition, world.clock.now());
    if (nominatedNodeName === undefined) delete status.nominatedNodeName;
    else status.nominatedNodeName = nominatedNodeName;
  });
}
