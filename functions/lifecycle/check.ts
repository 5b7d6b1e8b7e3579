import type { Node } from "#core/model/node.ts";
import type { NodeClaimRecord } from "#core/model/node-claim-record.ts";
import { nextEndCheck, nextReplacementCheck, nodeCheck, ownedByOther, type Waiting, waitOf } from "#core/passes/claim-check.ts";
import type { LifecycleDeps } from "../shared/cluster-deps.ts";
import type { ClaimState } from "./claim-state.ts";
import { claimUncordon } from "./held-nodes.ts";
import { NOT_INITIALIZED, recentRecords } from "./view.ts";

/** What a check has found: when the next one is due; or that a reconcile is due, which begins with `state`. */
type Check = (Waiting & { readonly state?: never }) | { readonly nextCheckAt?: never; readonly state: ClaimState };

/**
 * Checks whether what a NodeClaim waits for has come: one call, which does not read the NodeClaim.
 * @param isNews something has changed; otherwise only time has passed, and what another NodeClaim's check has just read
 * serves
 */
export async function checkWait(record: NodeClaimRecord, isNews: boolean, deps: LifecycleDeps): Promise<Check> {
  const { fleet, now, hasEventSource = false } = deps;
  switch (waitOf(record)) {
    case undefined:
      return { state: {} };
    case "node": {
      const { nodes, isFresh } = await youngNodes(isNews, deps);
      const check = nodeCheck(record, nodes, { now: now(), hasEventSource, isNews });
      const state: ClaimState = isFresh ? { youngNodes: nodes } : {};
      if (check === "reconcile") return { state };
      if (!("uncordon" in check)) return check;
      const uncordons = await claimUncordon(check.uncordon, deps);
      // The pass that uncordons the nodes also reconciles their NodeClaims.
      return uncordons === undefined ? ownedByOther(now()) : { state: { ...state, uncordons } };
    }
    case "end": {
      const [instance] = record.instance ? await fleet.describe([record.instance.id]) : [];
      const nextCheckAt = nextEndCheck(instance, now());
      return nextCheckAt === undefined ? { state: { instance: instance ?? "gone" } } : { nextCheckAt, observed: true };
    }
    case "replacements": {
      const nextCheckAt = nextReplacementCheck(record, await recentRecords(deps), now());
      return nextCheckAt === undefined ? { state: {} } : { nextCheckAt, observed: true };
    }
  }
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
