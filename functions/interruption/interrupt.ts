import { type Interruption, type InterruptionKind, parseInterruption, UnreadableInterruptionError } from "../../core/interruption/parse.ts";
import { machineFields } from "../../core/lifecycle/machine-fields.ts";
import type { NodeClaimRecord } from "../../core/model/record.ts";
import { UNAVAILABLE_MS } from "../../core/offerings/unavailable.ts";
import type { Log } from "../../core/ports/log.ts";
import type { Metrics } from "../../core/ports/metrics.ts";
import type { NodeClaimStore } from "../../core/ports/node-claim-store.ts";
import { announcing } from "../announcing.ts";
import type { ClusterDeps } from "../cluster-deps.ts";
import { endClaim } from "../end-claim.ts";
import { publishOnce } from "../events.ts";

export interface InterruptDeps {
  readonly store: Pick<NodeClaimStore, "byInstance">;
  /** Undefined for a cluster that this stack does not serve. */
  readonly clusterDeps: (cluster: string) => Promise<ClusterDeps | undefined>;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly now: () => number;
}

/** Events that people see on the node and its claim (interruption.md §3). */
const EVENTS: Readonly<
  Record<Exclude<InterruptionKind, "no_op">, { readonly reason: string; readonly message: string; readonly warning: boolean }>
> = {
  spot_interrupted: { reason: "SpotInterrupted", message: "Spot interruption warning was triggered", warning: true },
  rebalance_recommendation: {
    reason: "SpotRebalanceRecommendation",
    message: "Spot rebalance recommendation was triggered",
    warning: false,
  },
  scheduled_change: { reason: "InstanceUnhealthy", message: "An unhealthy warning was triggered for the instance", warning: true },
  instance_stopped: { reason: "InstanceStopping", message: "Instance is stopping", warning: true },
  instance_terminated: { reason: "InstanceTerminating", message: "Instance is terminating", warning: true },
  capacity_reservation_interrupted: {
    reason: "CapacityReservationInstanceInterrupted",
    message: "Capacity reservation interruption warning was triggered for the instance",
    warning: true,
  },
};

/**
 * Acts on one interruption message. Instances that are not ours are passed over; a claim that is going already is left to go. A malformed message
 * is logged and done with. Any other failure throws, and the message comes back.
 */
export async function interrupt(body: string, deps: InterruptDeps): Promise<void> {
  const interruption = read(body, deps.log);
  if (interruption === undefined) return;
  deps.metrics.count("interruption_received_messages_total", { message_type: interruption.kind });
  for (const instanceId of interruption.instanceIds.filter((id) => id !== "")) {
    const record = await deps.store.byInstance(instanceId);
    const cluster = record && (await deps.clusterDeps(record.cluster));
    if (record && cluster) await announcing(cluster, (heard) => interruptClaim(record, interruption, heard));
  }
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

async function interruptClaim(record: NodeClaimRecord, { kind }: Interruption, deps: ClusterDeps): Promise<void> {
  if (kind === "no_op") return;
  const { cluster, store, log, now } = deps;
  if (kind === "spot_interrupted" && record.instance) {
    const { instanceType, zone } = record.instance;
    await store.markUnavailable(cluster.name, [{ instanceType, zone, capacityType: "spot", expiresAt: now() + UNAVAILABLE_MS }]);
  }
  if (kind !== "rebalance_recommendation" && (await endClaim(record.name, kind, deps))) {
    log.info("initiating delete from interruption message", {
      controller: "interruption",
      messageKind: kind,
      NodeClaim: { name: record.name },
      ...machineFields(record),
      action: "CordonAndDrain",
    });
  }
  await tell(record, kind, deps);
}

async function tell(record: NodeClaimRecord, kind: Exclude<InterruptionKind, "no_op">, deps: ClusterDeps): Promise<void> {
  const { reason, message, warning } = EVENTS[kind];
  const claim = await deps.kubernetes.get("NodeClaim", record.name);
  if (claim === undefined) return;
  const type = warning ? "Warning" : "Normal";
  await publishOnce({ type, reason, message, about: { kind: "NodeClaim", metadata: claim.metadata } }, deps);
  const nodeName = claim.status?.nodeName;
  if (nodeName !== undefined) await publishOnce({ type, reason, message, about: { kind: "Node", metadata: { name: nodeName } } }, deps);
}
