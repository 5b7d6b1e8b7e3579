import type { Pod } from "#core/model/pod.ts";
import { checkPending, type PodFacts } from "#core/passes/check-pending.ts";
import { hasOutwaited, windowState } from "#core/passes/held-open.ts";
import { type ClusterFacts, idleState } from "#core/passes/idle-state.ts";
import type { TableReading } from "#core/passes/leaving-nodes.ts";
import type { Kubernetes } from "#core/ports/kubernetes.ts";
import type { WakeUpReason } from "#core/ports/wake-up-causes.ts";
import { answerOf } from "../shared/answer.ts";
import type { ClusterDeps } from "../shared/cluster-deps.ts";

const UNBOUND_PODS: Parameters<Kubernetes["list"]>[1] = { fieldSelector: "spec.nodeName=,status.phase=Pending" };
const RUNNING_PODS: Parameters<Kubernetes["list"]>[1] = { fieldSelector: "status.phase!=Succeeded,status.phase!=Failed" };

const podReaders = ({ kubernetes }: Pick<ClusterDeps, "kubernetes">) => ({
  unboundPods: async () => ({ unboundPods: await kubernetes.list("Pod", UNBOUND_PODS) }),
  pods: async () => ({ pods: await kubernetes.list("Pod", RUNNING_PODS) }),
});

export async function readTable({ cluster, store }: Pick<ClusterDeps, "cluster" | "store">): Promise<TableReading> {
  const [records, commands] = await Promise.all([store.list(cluster.name), store.commands(cluster.name)]);
  return { records, commands };
}

/** Reads the pods that wait for a node, and no more than the check needs (core/passes/check-pending.ts). */
export async function pendingCheck(reason: WakeUpReason<"provision">, table: TableReading, deps: ClusterDeps) {
  const { memory, settings, now } = deps;
  memory.forget("batchingWindow");
  const isFullyPlaced = memory.recall("fullyPlaced", now()) ?? false;
  const check = (facts: Partial<PodFacts>) => checkPending({ reason, ...table, ...settings, isFullyPlaced, now: now() }, facts);
  const answer = await answerOf(check, podReaders(deps));
  if (answer.next === "wait") memory.keep("batchingWindow", now() + answer.ms, now());
  return answer;
}

/**
 * How long the batching window stays open that this process knows of, ms. Pods that come without a pause send a wake-up
 * each second; one that is received just after a check would find nothing new.
 */
export const windowLeft = ({ memory, now }: Pick<ClusterDeps, "memory" | "now">): number =>
  Math.max(0, (memory.recall("batchingWindow", now()) ?? Number.NEGATIVE_INFINITY) - now());

/** Whether a sweep of provisioning has nothing to plan for (core/passes/idle-state.ts). */
export async function isIdle(deps: Pick<ClusterDeps, "cluster" | "store" | "kubernetes" | "memory" | "now">): Promise<boolean> {
  const { kubernetes, memory, now } = deps;
  if (memory.recall("largeCluster", now())) return false;
  const answer = await answerOf((facts: Partial<ClusterFacts>) => idleState(facts, now()), {
    ...podReaders(deps),
    table: () => readTable(deps),
    nodes: async () => ({ nodes: await kubernetes.list("Node") }),
  });
  if (answer.state === "large") memory.keep("largeCluster", true, now());
  return answer.next === "skip";
}

const NOTHING = new Uint8Array();

/**
 * Whether batching windows have been held open for too long (core/passes/held-open.ts). The table remembers when the
 * first of them began; it is read only while a window is open and a pod has waited for longer.
 */
export async function isHeldOpen(pods: readonly Pod[], { cluster, store, now, settings }: ClusterDeps): Promise<boolean> {
  const window = { now: now(), batchMaxMs: settings.batchMaxMs };
  if (!hasOutwaited(pods, window)) return false;
  const document = `batching/${cluster.name}`;
  const state = windowState(Number((await store.documentVersion(document)) ?? Number.NaN), window);
  if (state !== "open") await store.putDocument(document, NOTHING, String(window.now));
  return state === "overdue";
}
