import { isDrainDue } from "#core/lifecycle/drain.ts";
import type { Node } from "#core/model/node.ts";
import type { NodeClaimRecord, WaitsFor } from "#core/model/node-claim-record.ts";
import { awaitsReplacements, hasEnded, nodeCheck, ownedByOther, type Waiting, waitOf } from "#core/passes/claim-check.ts";
import type { LifecycleDeps } from "../shared/cluster-deps.ts";
import type { ClaimState } from "./claim-state.ts";
import { claimUncordon } from "./held-nodes.ts";
import { attachmentsOf, NOT_INITIALIZED, podsOn, recentRecords } from "./view.ts";

/** What a check has found: when the next one is due; or that a reconcile is due, which begins with `state`. */
type Check = (Waiting & { readonly state?: never }) | { readonly nextCheckAt?: never; readonly state: ClaimState };

/** What wakes a check: an event, a poll of a wait, or the time at which the wait is over. */
type CheckedFor = "event" | "poll" | "due";

/** The next checks of a wait are on their way. */
const scheduled = ({ dueAt }: NodeClaimRecord): Waiting => ({ nextCheckAt: dueAt, isScheduled: true });
const DUE: Check = { state: {} };

/**
 * Checks whether what a NodeClaim waits for has come: one call, which does not read the NodeClaim. Only after an
 * event is read again what another NodeClaim's check has just read.
 */
export async function checkWait(record: NodeClaimRecord, checkedFor: CheckedFor, deps: LifecycleDeps): Promise<Check> {
  const waitsFor = waitOf(record);
  if (waitsFor === undefined) return DUE;
  if (waitsFor === "node") return checkNode(record, checkedFor === "event", deps);
  // EC2's event says that an instance has ended. Of a drain, an event says nothing that a poll would see.
  const isReconciled = checkedFor === "due" || (checkedFor === "event" && waitsFor !== "end");
  return isReconciled ? DUE : poll(record, waitsFor, deps);
}

/** Whether what a drain or its end waits for has come: otherwise the other polls of the wait follow. */
async function poll(record: NodeClaimRecord, waitsFor: Exclude<WaitsFor, "node">, deps: LifecycleDeps): Promise<Check> {
  const { now } = deps;
  if (waitsFor === "end") {
    const [instance] = record.instance ? await deps.fleet.describe([record.instance.id]) : [];
    return hasEnded(instance) ? { state: { instance: instance ?? "gone" } } : scheduled(record);
  }
  if (waitsFor === "replacements") return awaitsReplacements(record, await recentRecords(deps), now()) ? scheduled(record) : DUE;
  const { nodeName } = record;
  if (nodeName === undefined) return DUE;
  const nodes = [{ metadata: { name: nodeName } }];
  const isDue =
    waitsFor === "volumes" ? (await attachmentsOf(nodes, deps)).length === 0 : isDrainDue(waitsFor, await podsOn(nodes, deps), now());
  return isDue ? DUE : scheduled(record);
}

async function checkNode(record: NodeClaimRecord, isNews: boolean, deps: LifecycleDeps): Promise<Check> {
  const { now, hasEventSource = false } = deps;
  const { nodes, isFresh } = await youngNodes(isNews, deps);
  const check = nodeCheck(record, nodes, { now: now(), hasEventSource, isNews });
  const state: ClaimState = isFresh ? { youngNodes: nodes } : {};
  if (check === "reconcile") return { state };
  if (!("uncordon" in check)) return check;
  const uncordons = await claimUncordon(check.uncordon, deps);
  // The pass that uncordons the nodes also reconciles their NodeClaims.
  return uncordons === undefined ? ownedByOther(now()) : { state: { ...state, uncordons } };
}

/** The nodes that are not initialized; whether they were listed for this check. */
async function youngNodes(
  isNews: boolean,
  { kubernetes, memory, now }: LifecycleDeps,
): Promise<{ readonly nodes: readonly Node[]; readonly isFresh: boolean }> {
  const at = now();
  const last = isNews ? undefined : memory.recall("youngNodes", at);
  if (last !== undefined) return { nodes: last, isFresh: false };
  const nodes = await kubernetes.list("Node", NOT_INITIALIZED);
  memory.keep("youngNodes", nodes, at);
  return { nodes, isFresh: true };
}
