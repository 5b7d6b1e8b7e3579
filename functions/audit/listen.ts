import { isJsonObject, type Json, listAt, parseJson, textAt } from "#core/lib/json.ts";
import type { Log } from "#core/ports/log.ts";
import type { NodeClaimStore } from "#core/ports/node-claim-store.ts";
import type { WakeUps } from "#core/ports/wake-ups.ts";
import { readAuditRecord } from "#core/signals/audit-record.ts";
import { type Signal, wakeUpsFor } from "#core/signals/signal.ts";
import { claimsByProviderId } from "../shared/claims-by-provider-id.ts";
import { UnreadableDeliveryError, unpack } from "./unpack.ts";

export interface ListenDeps {
  readonly store: Pick<NodeClaimStore, "byInstance">;
  readonly wakeUps: WakeUps;
  readonly log: Log;
  /** The cluster of a log group; undefined for a log group that belongs to no cluster of this stack. */
  readonly clusterOf: (logGroup: string) => Promise<string | undefined>;
  /** Clusters that have the audit log as a source of wake-ups. */
  readonly clusters: () => Promise<readonly string[]>;
}

/** Signals of one delivery; no cluster changes as much at once. The sweep finds what the rest is about. */
const MAX_SIGNALS = 20_000;

const FIELDS = { controller: "audit" };

/**
 * Turns a delivery of EKS audit records into wake-ups. It takes any value, because anybody may invoke a function by
 * hand. A record that cannot be read is logged and stops no other. A delivery that cannot be read wakes the planner of
 * every cluster, since it may have been about any; it is not retried, because it would be no more readable.
 */
export async function listen(event: unknown, deps: ListenDeps): Promise<void> {
  const data = textAt(event as Json, ["awslogs", "data"]);
  if (data === undefined) {
    deps.log.error("The event has no awslogs.data; it was dropped. Subscribe this function to the cluster's audit log group.", FIELDS);
    return;
  }
  const { delivery, records, problem } = await read(data);
  if (problem !== undefined) {
    deps.log.error(`The audit delivery cannot be read: ${problem}; the planner is woken in its stead.`, FIELDS);
    await deps.wakeUps.wake((await deps.clusters()).map((cluster) => ({ kind: "provision", cluster, cause: "AuditUnreadable" })));
    return;
  }
  if (textAt(delivery, ["messageType"]) !== "DATA_MESSAGE") return;
  const logGroup = textAt(delivery, ["logGroup"]);
  const cluster = await deps.clusterOf(logGroup ?? "");
  if (cluster === undefined) {
    deps.log.error(
      `Log group ${logGroup} is no cluster's of this stack; its records were dropped. Add the cluster to the stack or remove the subscription.`,
      FIELDS,
    );
    return;
  }
  const odd = listAt(delivery, ["logEvents"]).filter((element) => !isJsonObject(element)).length;
  if (records.unreadable + odd > 0) {
    const consequence = records.mayRing ? "the planner is woken to be sure" : "they were dropped";
    deps.log.error(`${records.unreadable + odd} audit record(s) are cut off or no JSON; ${consequence}.`, FIELDS);
  }
  const signals = records.signals();
  const wake = async (): Promise<void> => {
    const wakeUps = wakeUpsFor(cluster, signals, await claimsByProviderId(signals, deps.store));
    if (wakeUps.length > 0) await deps.wakeUps.wake(wakeUps);
  };
  // Once more at once: Lambda repeats a delivery that failed after a minute.
  await wake().catch(wake);
}

interface Read {
  readonly delivery?: Json;
  readonly records: Records;
  /** Why the delivery cannot be read. */
  readonly problem?: string;
}

async function read(data: string): Promise<Read> {
  const records = new Records();
  try {
    const delivery = parseJson(await unpack(data, (text) => records.add(text)));
    if (!isJsonObject(delivery)) return { records, problem: "it is not a JSON object" };
    const isList = delivery["logEvents"] === undefined || Array.isArray(delivery["logEvents"]);
    return isList ? { delivery, records } : { records, problem: "its logEvents are no list" };
  } catch (error) {
    if (error instanceof UnreadableDeliveryError) return { records, problem: error.message };
    throw error;
  }
}

/** What the records of a delivery mean, kept while they pass by. */
class Records {
  readonly #signals = new Map<string, Signal>();
  unreadable = 0;
  /** Whether a record that cannot be read may be about a pod that kube-scheduler could not place. */
  mayRing = false;

  /** Takes the text of one element of logEvents, or undefined for one that is too long to be looked at. */
  add(text: string | undefined): void {
    const message = textAt(parseJson(text), ["message"]);
    const record = parseJson(message);
    if (isJsonObject(record)) {
      const signal = readAuditRecord(record);
      if (signal !== undefined && this.#signals.size < MAX_SIGNALS) this.#signals.set(JSON.stringify(signal), signal);
      return;
    }
    // CloudWatch Logs cuts records that are too long; the text of a cut record may still show its topic.
    this.unreadable++;
    if (message?.includes("Unschedulable") || message?.includes("system:kube-scheduler")) this.mayRing = true;
  }

  signals(): readonly Signal[] {
    return [...this.#signals.values(), ...(this.mayRing ? [{ kind: "pod-unschedulable", pod: "?" } as const] : [])];
  }
}
