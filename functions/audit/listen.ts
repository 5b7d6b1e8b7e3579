import { gunzipSync } from "node:zlib";
import type { JsonObject } from "../../core/lib/json.ts";
import type { Log } from "../../core/ports/log.ts";
import type { NodeClaimStore } from "../../core/ports/node-claim-store.ts";
import type { WakeUps } from "../../core/ports/wake-ups.ts";
import { readAuditRecord } from "../../core/signals/audit-record.ts";
import { type Signal, wakeUpsFor } from "../../core/signals/signal.ts";
import { claimsByProviderId } from "../shared/claims-by-provider-id.ts";

export interface ListenDeps {
  readonly store: Pick<NodeClaimStore, "byInstance">;
  readonly wakeUps: WakeUps;
  readonly log: Log;
  /** The cluster of a log group; undefined for a log group that belongs to no cluster of this stack. */
  readonly clusterOf: (logGroup: string) => string | undefined;
  /** Clusters that have the audit log as a source of wake-ups. */
  readonly clusters: readonly string[];
}

interface Delivery {
  readonly messageType?: string;
  readonly logGroup?: string;
  readonly logEvents?: readonly { readonly message?: string }[];
}

/**
 * Turns a delivery of EKS audit records into wake-ups. A delivery that cannot be read wakes the planner of every
 * cluster, since it may have been about any; it is not retried, because it would be no more readable.
 */
export async function listen(event: { readonly awslogs?: { readonly data?: string } }, deps: ListenDeps): Promise<void> {
  const data = event.awslogs?.data;
  if (data === undefined) {
    deps.log.error("The event has no awslogs.data; it was dropped. Subscribe this function to the cluster's audit log group.", {
      controller: "audit",
    });
    return;
  }
  const delivery = unpack(data, deps.log);
  if (delivery === undefined) {
    await deps.wakeUps.wake(deps.clusters.map((cluster) => ({ kind: "provision", cluster, cause: "AuditUnreadable" })));
    return;
  }
  if (delivery.messageType !== "DATA_MESSAGE") return;
  const cluster = deps.clusterOf(delivery.logGroup ?? "");
  if (cluster === undefined) {
    deps.log.error(
      `Log group ${delivery.logGroup} is no cluster's of this stack; its records were dropped. Add the cluster to the stack or remove the subscription.`,
      { controller: "audit" },
    );
    return;
  }
  const signals = (delivery.logEvents ?? []).flatMap(({ message = "" }) => signalOf(message, deps.log));
  const wakeUps = wakeUpsFor(cluster, signals, await claimsByProviderId(signals, deps.store));
  if (wakeUps.length > 0) await deps.wakeUps.wake(wakeUps);
}

function unpack(data: string, log: Log): Delivery | undefined {
  try {
    return JSON.parse(gunzipSync(Buffer.from(data, "base64")).toString("utf8")) as Delivery;
  } catch {
    log.error("The audit delivery is not gzipped JSON; the planner is woken in its stead.", { controller: "audit" });
    return undefined;
  }
}

/**
 * The signal of one audit record. CloudWatch Logs cuts records that are too long; the text of a cut record may still
 * show its topic.
 */
function signalOf(message: string, log: Log): readonly Signal[] {
  try {
    const signal = readAuditRecord(JSON.parse(message) as JsonObject);
    return signal ? [signal] : [];
  } catch {
    const rings = message.includes("Unschedulable") || message.includes("system:kube-scheduler");
    log.error(`An audit record is cut off${rings ? "; the planner is woken to be sure" : " and was dropped"}.`, { controller: "audit" });
    return rings ? [{ kind: "pod-unschedulable", pod: "?" }] : [];
  }
}
