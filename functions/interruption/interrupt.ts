import { type Interruption, parseInterruption, UnreadableInterruptionError } from "../../core/interruption/parse.ts";
import type { Log } from "../../core/ports/log.ts";
import type { Metrics } from "../../core/ports/metrics.ts";
import type { NodeClaimStore } from "../../core/ports/node-claim-store.ts";
import { withAnnouncements } from "../shared/announce.ts";
import type { ClusterDeps } from "../shared/cluster-deps.ts";
import { interruptClaim } from "../shared/interrupt-claim.ts";

export interface InterruptDeps {
  readonly store: Pick<NodeClaimStore, "byInstance">;
  /** Undefined for a cluster that this stack does not serve. */
  readonly clusterDeps: (cluster: string) => Promise<ClusterDeps | undefined>;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly now: () => number;
}

/**
 * Acts on one interruption message. Instances without a NodeClaim are skipped, and a NodeClaim that is terminating
 * already stays as it is. A malformed message is logged and acknowledged. Any other failure throws, and the queue
 * delivers the message again.
 */
export async function interrupt(body: string, deps: InterruptDeps): Promise<void> {
  const interruption = read(body, deps.log);
  if (interruption === undefined) return;
  const { kind } = interruption;
  deps.metrics.count("interruption_received_messages_total", { message_type: kind });
  const act = async (instanceId: string): Promise<void> => {
    const record = await deps.store.byInstance(instanceId);
    const cluster = record && (await deps.clusterDeps(record.cluster));
    if (record && cluster && kind !== "no_op") await withAnnouncements(cluster, (collected) => interruptClaim(record, kind, collected));
  };
  // An AWS Health event may list many instances: a failure for one must not delay the others.
  const acts = await Promise.allSettled([...new Set(interruption.instanceIds)].filter((id) => id !== "").map(act));
  const failed = acts.find((settled) => settled.status === "rejected");
  if (failed) throw failed.reason;
  deps.metrics.count("interruption_deleted_messages_total", {});
  if (interruption.time !== undefined) {
    deps.metrics.observe("interruption_message_queue_duration_seconds", {}, (deps.now() - interruption.time) / 1_000);
  }
}

function read(body: string, log: Log): Interruption | undefined {
  try {
    return parseInterruption(body);
  } catch (error) {
    if (!(error instanceof UnreadableInterruptionError)) throw error;
    log.error(error.message, { controller: "interruption", "message-start": body.slice(0, 80) });
    return undefined;
  }
}
