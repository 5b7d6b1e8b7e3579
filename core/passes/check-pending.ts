import type { Pod } from "../model/pod.ts";
import { isProvisionable } from "../pods/predicates.ts";
import type { WakeUpReason } from "../ports/wake-up-causes.ts";
import { openPods, startsAlone, waitForOneNode } from "../provisioning/pending-pods.ts";
import { withUntriedPods } from "../provisioning/untried-pods.ts";
import { type BatchSettings, batchingWait } from "./batching-window.ts";
import { PROVISION_CAUSES } from "./causes.ts";
import { hasEvictions, leavingNodes, type TableReading } from "./leaving-nodes.ts";
import { type Read, read, SKIP, type Skip } from "./verdict.ts";

/** What can be read of the pods of a cluster before the rest of it. */
export interface PodFacts {
  /** Pods that wait for a node. */
  readonly unboundPods: readonly Pod[];
  /** All pods that have not ended. */
  readonly pods: readonly Pod[];
}

interface PendingState extends TableReading, BatchSettings {
  readonly reason: WakeUpReason<"provision">;
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** The last plan of this process had a place for each pod. Pods that came later have a wake-up of their own. */
  readonly isFullyPlaced: boolean;
}

/** The batching window of the pods is open for so long. */
interface Wait {
  readonly next: "wait";
  readonly ms: number;
  readonly pods: readonly Pod[];
}

/**
 * Whether pods wait for a plan, before the whole cluster is read: most wake-ups find that nothing waits, or that more
 * pods are still coming. A cluster with CapacityBuffers is not checked, because their virtual pods are in no list.
 */
export function checkPending(state: PendingState, facts: Partial<PodFacts>): Read<keyof PodFacts> | Skip | Wait | { readonly next: "run" } {
  const { reason, records, now } = state;
  const isAboutNode = PROVISION_CAUSES[reason.cause].check === "node";
  if (isAboutNode && state.isFullyPlaced && startsAlone(records)) return SKIP;
  const { unboundPods } = facts;
  if (unboundPods === undefined) return read("unboundPods");
  const open = openPods(unboundPods, records, now);
  if (isAboutNode && waitForOneNode(open, records, now)) return SKIP;
  if (open.length === 0) {
    const evictions = checkEvictions(state, facts);
    if (evictions !== undefined) return evictions;
  }
  const pods = withUntriedPods({ pods: open }).pods.filter(isProvisionable);
  const ms = batchingWait(reason, pods, records, state);
  return ms > 0 ? { next: "wait", ms, pods } : { next: "run" };
}

/** Undefined when nodes leave whose pods need a plan. */
function checkEvictions(state: PendingState, { pods }: Partial<PodFacts>): Read<"pods"> | Skip | undefined {
  const leaving = leavingNodes(state);
  // Nothing is known here of a node that has not registered.
  if (leaving.has(undefined)) return undefined;
  if (leaving.size === 0) return SKIP;
  if (pods === undefined) return read("pods");
  return hasEvictions(leaving, pods, state.records, state.now) ? undefined : SKIP;
}
