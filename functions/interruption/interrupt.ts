import { whyNotConcerned } from "#core/interruption/concerns.ts";
import { parseInterruption } from "#core/interruption/parse.ts";
import type { Log } from "#core/ports/log.ts";
import type { Metrics } from "#core/ports/metrics.ts";
import type { NodeClaimStore } from "#core/ports/node-claim-store.ts";
import { withAnnouncements } from "../shared/announce.ts";
import type { ClusterDeps } from "../shared/cluster-deps.ts";
import { keepNotice } from "../shared/early-notices.ts";
import { interruptClaim } from "../shared/interrupt-claim.ts";
import { type ReconcileIds, withReconcileId } from "../shared/reconcile-id.ts";

export interface InterruptDeps extends ReconcileIds {
  readonly store: Pick<NodeClaimStore, "byInstance" | "isFirstWithin">;
  /** Undefined for a cluster that this stack does not serve. */
  readonly clusterDeps: (cluster: string) => Promise<ClusterDeps | undefined>;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly now: () => number;
}

/**
 * Acts on one interruption message. A notice of an instance without a record is kept for its adoption, and a NodeClaim
 * that is terminating already stays as it is. A malformed message is logged and acknowledged, and so is a message that
 * names an instance of ours but cannot be about it. Any other failure throws, and the queue delivers the message again.
 * @param ownAccount twelve digits: the account of the queue, undefined when it is not known
 */
export async function interrupt(body: string, ownAccount: string | undefined, deps: InterruptDeps): Promise<void> {
  const reading = parseInterruption(body);
  if ("problem" in reading) {
    deps.log.error(reading.problem, { controller: "interruption", "message-start": body.slice(0, 80) });
    return;
  }
  const { interruption } = reading;
  const { kind } = interruption;
  deps.metrics.count("interruption_received_messages_total", { message_type: kind });
  const act = async (instanceId: string): Promise<void> => {
    const record = await deps.store.byInstance(instanceId);
    if (record === undefined) return await keepNotice(interruption, instanceId, deps);
    const served = await deps.clusterDeps(record.cluster);
    const cluster = served && { ...served, log: withReconcileId(served.log, deps) };
    if (cluster === undefined || kind === "no_op") return;
    const odd = whyNotConcerned(interruption, record, { account: cluster.account ?? ownAccount, now: deps.now() });
    if (odd !== undefined) {
      const fields = { controller: "interruption", messageKind: kind, NodeClaim: { name: record.name } };
      cluster.log.error(`An interruption message names instance ${instanceId} but is not about it: ${odd}; it was dropped.`, fields);
      return;
    }
    await withAnnouncements(cluster, (collected) => interruptClaim(record, kind, collected));
  };
  // An AWS Health event may list many instances: a failure for one must not delay the others.
  const acts = await Promise.allSettled([...new Set(interruption.instanceIds)].map(act));
  const failed = acts.find((settled) => settled.status === "rejected");
  if (failed) throw failed.reason;
  deps.metrics.count("interruption_deleted_messages_total", {});
  if (interruption.time !== undefined) {
    deps.metrics.observe("interruption_message_queue_duration_seconds", {}, (deps.now() - interruption.time) / 1_000);
  }
}
