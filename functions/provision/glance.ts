import { goingNames } from "#adapters/kubernetes/snapshot.ts";
import type { Plan } from "#core/model/plan.ts";
import type { Pod } from "#core/model/pod.ts";
import { isProvisionable } from "#core/pods/predicates.ts";
import type { Kubernetes } from "#core/ports/kubernetes.ts";
import type { WakeUpReason } from "#core/ports/wake-up-causes.ts";
import { movingPods, openPods, startsAlone, waitForOneNode } from "#core/provisioning/glance.ts";
import { withUntriedPods } from "#core/provisioning/untried-pods.ts";
import type { ClusterDeps } from "../shared/cluster-deps.ts";
import type { ClusterState } from "../shared/cluster-state.ts";
import { batchingWait } from "./timing.ts";

/** Pods that wait for a node. */
export const UNBOUND_PODS: Parameters<Kubernetes["list"]> = ["Pod", { fieldSelector: "spec.nodeName=,status.phase=Pending" }];

/** What a glance at the pods has led to: nothing waits for a plan, or the batching window is open for so long. */
type Glance = { readonly isIdle: true } | { readonly isIdle: false; readonly waitMs: number; readonly pods: readonly Pod[] };

/**
 * Looks at the pods that are not bound, before the whole cluster is read for a plan: most wake-ups find that nothing
 * waits, or that more pods are still coming. A cluster with CapacityBuffers is read as a whole, because their virtual
 * pods are in no list.
 */
export async function glance(reason: WakeUpReason<"provision">, table: TableReading, deps: ClusterDeps): Promise<Glance> {
  const { records } = table;
  deps.memory.forget("batchingWindow");
  if (reason.cause === "NodeRegistered" && deps.memory.recall("fullyPlaced", deps.now()) && startsAlone(records)) return { isIdle: true };
  const unbound = (await deps.kubernetes.list(...UNBOUND_PODS)) as readonly Pod[];
  const pods = openPods(unbound, records, deps.now());
  if (reason.cause === "NodeRegistered" && waitForOneNode(pods, records, deps.now())) return { isIdle: true };
  if (pods.length === 0 && !(await anyMustMove(table, deps))) return { isIdle: true };
  const coming = withUntriedPods({ pods }).pods.filter(isProvisionable);
  const waitMs = batchingWait(reason, coming, records, deps);
  deps.memory.keep("batchingWindow", deps.now() + waitMs, deps.now());
  return { isIdle: false, waitMs, pods: coming };
}

/**
 * How long the batching window stays open that this process knows of, ms. Pods that come without a pause send a wake-up
 * each second, and one that is received just after a look would find nothing new.
 */
export const knownWait = ({ memory, now }: Pick<ClusterDeps, "memory" | "now">): number =>
  Math.max(0, (memory.recall("batchingWindow", now()) ?? Number.NEGATIVE_INFINITY) - now());

/** Notes whether a plan has a place for each pod. Pods that come later have a wake-up of their own. */
export function notePlaces({ podErrors }: Pick<Plan, "podErrors">, { memory, now }: Pick<ClusterDeps, "memory" | "now">): void {
  if (Object.keys(podErrors).length === 0) memory.keep("fullyPlaced", true, now());
  else memory.forget("fullyPlaced");
}

/** A cluster of more nodes has lists that are longer than a page, which a warm function remembers. */
const MAX_NODES_READ_ANEW = 40;

/**
 * Why a sweep of provisioning need not look at the cluster: no pod is unbound and no node goes ("quiet"), or the nodes
 * that go have no pods to be planned for ("nothing moves"). Undefined when it must look. Any pod that is not bound
 * counts, also one whose node is on its way: the sweep finds what no wake-up has told. A node that goes without a
 * record that says so may be another owner's, whose pods need places all the same. A sweep of a large cluster looks all
 * the same: that keeps current what a warm function remembers of its lists, and the next plan need not read all of it.
 */
export async function restOf(deps: ClusterDeps): Promise<"quiet" | "nothing moves" | undefined> {
  const { kubernetes, memory, now } = deps;
  if (memory.recall("largeCluster", now())) return undefined;
  const table = await readTable(deps);
  if ((await kubernetes.list(...UNBOUND_PODS)).length > 0) return undefined;
  const leaving = leavingNodes(table);
  if (leaving.has(undefined)) return undefined;
  const nodes = await kubernetes.list("Node");
  if (nodes.length > MAX_NODES_READ_ANEW) {
    memory.keep("largeCluster", true, now());
    return undefined;
  }
  if (nodes.some(({ metadata }) => metadata.deletionTimestamp !== undefined && !leaving.has(metadata.name))) return undefined;
  if (goingNames(table).size === 0) return "quiet";
  return (await anyMoves(leaving, table, { kubernetes, now })) ? undefined : "nothing moves";
}

/** Whether a node goes that has pods to be planned for, as far as can be seen without reading nodes. */
async function anyMustMove(table: TableReading, deps: ClusterDeps): Promise<boolean> {
  const leaving = leavingNodes(table);
  // Of a node that has not registered nothing is known here.
  return leaving.has(undefined) || (leaving.size > 0 && (await anyMoves(leaving, table, deps)));
}

/** Names of the nodes that go, as far as the table says; undefined for one that has not registered. */
function leavingNodes(table: TableReading): ReadonlySet<string | undefined> {
  const going = goingNames(table);
  const ending = table.records.filter(({ name, instance }) => going.has(name) && instance !== undefined);
  return new Set(ending.map(({ nodeName }) => nodeName));
}

async function anyMoves(
  leaving: ReadonlySet<string | undefined>,
  { records }: TableReading,
  { kubernetes, now }: Pick<ClusterDeps, "kubernetes" | "now">,
): Promise<boolean> {
  const pods = await kubernetes.list("Pod", { fieldSelector: "status.phase!=Succeeded,status.phase!=Failed" });
  const onThem = pods.filter(({ spec }) => leaving.has(spec.nodeName));
  return movingPods(onThem, records, now()).length > 0;
}

export type TableReading = Pick<ClusterState, "records" | "commands">;

export async function readTable({ cluster, store }: ClusterDeps): Promise<TableReading> {
  const [records, commands] = await Promise.all([store.list(cluster.name), store.commands(cluster.name)]);
  return { records, commands };
}
