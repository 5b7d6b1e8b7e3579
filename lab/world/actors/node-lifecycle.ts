import type { Node } from "#core/model/node.ts";
import type { Pod } from "#core/model/pod.ts";
import type { Taint } from "#core/model/taint.ts";
import type { MutableObject } from "../store.ts";
import type { LabWorld } from "../world.ts";
import { debounced, isTerminal, isTerminating, markDisrupted, nodesOf, podsOf, withCondition } from "./actor.ts";
import type { Kubelets } from "./kubelet.ts";
import { tolerates } from "./placement.ts";

const USER = "system:serviceaccount:kube-system:node-controller";
const GARBAGE_COLLECTOR = "system:serviceaccount:kube-system:pod-garbage-collector";
/** nodeMonitorGracePeriod: a node without a heartbeat for this long becomes Unknown. */
const MONITOR_GRACE_MS = 40_000;
/** Quarantine and check period of the pod garbage collector, for pods whose node does not exist any more. */
const POD_GC_MS = 40_000;
const NOT_READY = "node.kubernetes.io/not-ready";
const UNREACHABLE = "node.kubernetes.io/unreachable";
const UNSCHEDULABLE = "node.kubernetes.io/unschedulable";
const KEYS = new Set([NOT_READY, UNREACHABLE, UNSCHEDULABLE]);

/**
 * The node controller: a silent node becomes Unknown, conditions become taints, NoExecute taints evict pods, and pods
 * without a node are deleted.
 */
export function startNodeLifecycle(world: LabWorld, kubelets: Kubelets): void {
  const { clock, store } = world;
  /** When a pod was first under a NoExecute taint that it tolerates for some time, ms since the epoch. */
  const since = new Map<string, number>();

  const taints = debounced(world, "node controller", 100, () => {
    for (const node of nodesOf(world)) taintByCondition(world, node);
    evictByTaint();
  });
  const evictByTaint = (): void => {
    const pods = podsOf(world);
    for (const node of nodesOf(world)) {
      const noExecute = (node.spec.taints ?? []).filter((t) => t.effect === "NoExecute");
      for (const pod of pods) {
        if (pod.spec.nodeName !== node.metadata.name || isTerminating(pod)) continue;
        const uid = pod.metadata.uid ?? "";
        const toleratedMs = noExecute.length === 0 ? undefined : tolerationMsOf(pod, noExecute);
        if (toleratedMs === undefined) {
          since.delete(uid);
          continue;
        }
        const start = since.get(uid) ?? clock.now();
        since.set(uid, start);
        const due = start + toleratedMs;
        if (due > clock.now()) clock.at(due, "taint eviction", evictByTaint);
        else {
          markDisrupted(world, pod, USER, "DeletionByTaintManager", "Taint manager: deleting due to NoExecute taint");
          store.delete("Pod", pod.metadata.name, { namespace: pod.metadata.namespace, uid }, { user: USER });
        }
      }
    }
  };

  clock.every(5_000, "node monitor", () => {
    for (const node of nodesOf(world)) {
      const { name } = node.metadata;
      const known = node.status?.conditions?.find((c) => c.type === "Ready");
      if (kubelets.isAlive(name)) silent.delete(name);
      else if (known?.status !== "Unknown") {
        const first = silent.get(name) ?? clock.now();
        silent.set(name, first);
        if (clock.now() - first >= MONITOR_GRACE_MS - 5_000) markUnknown(world, name);
      }
    }
  });
  const silent = new Map<string, number>();

  world.onChange(({ kind, type, object }) => {
    if (kind === "Node" && type === "DELETED")
      clock.after(POD_GC_MS, "pod garbage collector", () => collectPods(world, object.metadata.name));
    if (kind === "Node" || (kind === "Pod" && type === "MODIFIED" && (object as unknown as Pod).spec.nodeName)) taints();
  });
}

/** How long the pod tolerates these taints, ms; undefined means for ever. */
function tolerationMsOf(pod: Pod, taints: readonly Taint[]): number | undefined {
  let least: number | undefined;
  for (const taint of taints) {
    const matching = (pod.spec.tolerations ?? []).filter((t) => tolerates([t], taint));
    if (matching.length === 0) return 0;
    for (const { tolerationSeconds } of matching) {
      if (tolerationSeconds !== undefined) least = Math.min(least ?? Number.POSITIVE_INFINITY, Math.max(0, tolerationSeconds) * 1000);
    }
  }
  return least;
}

function taintByCondition(world: LabWorld, node: Node): void {
  const ready = node.status?.conditions?.find((c) => c.type === "Ready")?.status;
  const wanted: Taint[] = [];
  if (ready === "Unknown") wanted.push({ key: UNREACHABLE, effect: "NoSchedule" }, { key: UNREACHABLE, effect: "NoExecute" });
  else if (ready !== "True") wanted.push({ key: NOT_READY, effect: "NoSchedule" }, { key: NOT_READY, effect: "NoExecute" });
  if (node.spec.unschedulable) wanted.push({ key: UNSCHEDULABLE, effect: "NoSchedule" });
  const have = (node.spec.taints ?? []).filter((t) => KEYS.has(t.key));
  const equal = have.length === wanted.length && wanted.every((w) => have.some((h) => h.key === w.key && h.effect === w.effect));
  if (equal) return;
  world.store.patch("Node", node.metadata.name, undefined, { user: USER }, (o: MutableObject) => {
    const kept = (o.spec.taints ?? []).filter((t: Taint) => !KEYS.has(t.key));
    o.spec.taints = [...kept, ...wanted];
    return o;
  });
}

function markUnknown(world: LabWorld, name: string): void {
  const now = world.clock.now();
  const message = "Kubelet stopped posting node status.";
  world.store.patch("Node", name, undefined, { user: USER, subresource: "status" }, (o: MutableObject) => {
    const condition = { type: "Ready", status: "Unknown", reason: "NodeStatusUnknown", message } as const;
    o.status = { ...o.status, conditions: withCondition(o.status?.conditions, condition, now) };
    return o;
  });
  // PodDisruptionBudgets must not count pods whose node is silent.
  for (const pod of podsOf(world)) {
    if (pod.spec.nodeName !== name || pod.status?.phase !== "Running") continue;
    world.store.patch("Pod", pod.metadata.name, pod.metadata.namespace, { user: USER, subresource: "status" }, (o: MutableObject) => {
      o.status.conditions = withCondition(o.status.conditions, { type: "Ready", status: "False", reason: "NodeNotReady" }, now);
      return o;
    });
  }
}

function collectPods(world: LabWorld, nodeName: string): void {
  if (world.store.get("Node", nodeName)) return;
  for (const pod of podsOf(world)) {
    if (pod.spec.nodeName !== nodeName) continue;
    const { name, namespace, uid } = pod.metadata;
    if (!isTerminal(pod)) {
      markDisrupted(world, pod, GARBAGE_COLLECTOR, "DeletionByPodGC", "PodGC: node no longer exists");
      world.store.patch("Pod", name, namespace, { user: GARBAGE_COLLECTOR, subresource: "status" }, (o: MutableObject) => {
        o.status = { ...o.status, phase: "Failed" };
        return o;
      });
    }
    world.store.delete("Pod", name, { namespace, uid, gracePeriodSeconds: 0 }, { user: GARBAGE_COLLECTOR });
  }
}
