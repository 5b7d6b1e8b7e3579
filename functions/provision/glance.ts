import type { Pod } from "../../core/model/pod.ts";
import { isDaemonSetPod, isMirror, isProvisionable } from "../../core/pods/predicates.ts";
import type { Kubernetes } from "../../core/ports/kubernetes.ts";
import type { WakeUpReason } from "../../core/ports/wake-up-causes.ts";
import { openPods } from "../../core/provisioning/glance.ts";
import { withUntriedPods } from "../../core/provisioning/untried-pods.ts";
import { goingNames } from "../adapters/kubernetes/snapshot.ts";
import type { ClusterDeps } from "../shared/cluster-deps.ts";
import type { ClusterState } from "../shared/cluster-state.ts";
import { batchingWait } from "./timing.ts";

/** Pods that wait for a node. */
export const UNBOUND_PODS: Parameters<Kubernetes["list"]> = ["Pod", { fieldSelector: "spec.nodeName=,status.phase=Pending" }];

/** What a glance at the pods has led to: nothing waits for a plan, or the batching window is open for so long. */
type Glance = { readonly isIdle: true } | { readonly isIdle: false; readonly waitMs: number; readonly pods: readonly Pod[] };

/**
 * Looks at the pods that are not bound, before the whole cluster is read for a plan: most wake-ups find that nothing
 * waits, or that more pods are still coming. The sweep looks at everything, whatever the pods say, and so does a
 * cluster with CapacityBuffers, whose virtual pods are in no list.
 */
export async function glance(reason: WakeUpReason<"provision">, table: TableReading, deps: ClusterDeps): Promise<Glance> {
  const unbound = (await deps.kubernetes.list(...UNBOUND_PODS)) as readonly Pod[];
  const { records } = table;
  const pods = openPods(unbound, records, deps.now());
  if (pods.length === 0 && !(await anyMustMove(table, deps))) return { isIdle: true };
  const coming = withUntriedPods({ pods }).pods.filter(isProvisionable);
  return { isIdle: false, waitMs: batchingWait(reason, coming, records, deps), pods: coming };
}

/** Whether a node goes that has pods to be planned for, as far as can be seen without reading nodes. */
async function anyMustMove(table: TableReading, { kubernetes }: ClusterDeps): Promise<boolean> {
  const going = goingNames(table);
  if (going.size === 0) return false;
  const ending = table.records.filter(({ name, instance }) => going.has(name) && instance !== undefined);
  const nodes = new Set(ending.map(({ nodeName }) => nodeName));
  // Of a node that has not registered nothing is known here.
  if (nodes.has(undefined)) return true;
  const pods = await kubernetes.list("Pod", { fieldSelector: "status.phase!=Succeeded,status.phase!=Failed" });
  return pods.some((pod) => nodes.has(pod.spec.nodeName) && !isDaemonSetPod(pod) && !isMirror(pod));
}

export type TableReading = Pick<ClusterState, "records" | "commands">;

export async function readTable({ cluster, store }: ClusterDeps): Promise<TableReading> {
  const [records, commands] = await Promise.all([store.list(cluster.name), store.commands(cluster.name)]);
  return { records, commands };
}
