import type { CommandAction } from "#core/disruption/command/command-action.ts";
import { conditionOf, fromRfc3339, withCondition } from "#core/model/conditions.ts";
import { CAPACITY_TYPE, NODE_POOL, REBOOT_GRACE_PERIOD } from "#core/model/labels.ts";
import type { NodeClaim } from "#core/model/node-claim.ts";
import type { ClusterDeps } from "../shared/cluster-deps.ts";
import { countRepair } from "../shared/count-repair.ts";
import { ignoreGone, retryOnConflict } from "../shared/optimistic.ts";
import { writeStatus } from "../shared/write-status.ts";

const MAX_TRIES = 5;

/**
 * Asks the lifecycle to reboot a node: the bound of its drain as an annotation, then the condition Rebooting, which
 * begins it. A NodeClaim that was asked since, or that goes, is left as it is
 * (karpenter: pkg/controllers/disruption/repair.go, Repair.commitReboot).
 */
export async function requestReboot(
  { claim: name, repair, requestedAt }: Extract<CommandAction, { type: "RequestReboot" }>,
  deps: ClusterDeps,
): Promise<void> {
  const { cluster, kubernetes, wakeUps } = deps;
  const attempt = async (): Promise<NodeClaim | undefined> => {
    const claim = await kubernetes.get("NodeClaim", name);
    if (claim === undefined || claim.metadata.deletionTimestamp !== undefined) return undefined;
    const last = conditionOf(claim.status?.conditions, "Rebooting");
    // The API server keeps whole seconds.
    if (last && fromRfc3339(last.lastTransitionTime) >= Math.floor(requestedAt / 1_000) * 1_000) return undefined;
    const annotations = { ...claim.metadata.annotations, [REBOOT_GRACE_PERIOD]: `${repair.drainMs / 1_000}s` };
    const bounded = await kubernetes.update("NodeClaim", { ...claim, metadata: { ...claim.metadata, annotations } });
    const message = `rebooting for ${repair.condition}/${repair.reason}`;
    const at = { now: deps.now(), ...(claim.metadata.generation !== undefined && { generation: claim.metadata.generation }) };
    const asked = [
      { type: "DisruptionReason", status: "True", reason: "Unhealthy", message: "Unhealthy" },
      { type: "Rebooting", status: "True", reason: "RebootRequested", message },
    ] as const;
    const before = claim.status?.conditions ?? [];
    const conditions = asked.reduce((all, change) => withCondition(all, change, at), before);
    await writeStatus("NodeClaim", { ...bounded, status: { ...claim.status, conditions } }, before, deps);
    return claim;
  };
  const asked = await ignoreGone(retryOnConflict(MAX_TRIES, attempt));
  if (asked) count(asked, repair, deps);
  // Also when an earlier run has asked: it may have been killed before its wake-up.
  await wakeUps.wake([{ kind: "claim", cluster: cluster.name, claim: name }]);
}

function count(claim: NodeClaim, repair: { readonly condition: string; readonly drainMs: number }, deps: ClusterDeps): void {
  const { labels } = claim.metadata;
  deps.metrics.count("nodeclaims_disrupted_total", {
    reason: "unhealthy",
    nodepool: labels?.[NODE_POOL] ?? "",
    capacity_type: labels?.[CAPACITY_TYPE] ?? "",
  });
  countRepair(claim, repair, deps);
}
