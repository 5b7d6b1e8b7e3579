import { gzipSync } from "node:zlib";
import { withSchema } from "#adapters/store/records.ts";
import { packed } from "#adapters/store/table-dynamodb.ts";
import { dimensionSets, type MetricRecord, SENT_METRICS, type SentMetrics } from "#adapters/telemetry/metrics.ts";
import { type MetricsInHour, mapUsage, type Usage } from "#cli/cost/usage.ts";
import { keyOf } from "#core/history/keys.ts";
import type { CommandRecord } from "#core/model/command-record.ts";
import type { HistoryEntry } from "#core/model/history-entry.ts";
import type { KubernetesObject } from "#core/model/kubernetes.ts";
import type { NodeClaimRecord } from "#core/model/node-claim-record.ts";
import { FUNCTIONS, type FunctionName } from "#infra/functions.ts";
import type { Lab, TimedLogRecord } from "#lab/host.ts";
import type { CallHooks, PortCall } from "#lab/world/intercept.ts";
import { currentInvocation } from "#lab/world/invocation.ts";

// How long an invocation runs, ms. Lambda bills time, and the simulation has none. Functions of `npm run versus` take
// 90 to 170 ms on the mean beside local servers (their REPORT lines); what is assumed here is longer.

/** The code's own work, on the share of a CPU that the memory gives. */
const RUN_MS = 60;
/** An object that has changed since the function last listed it is sent, parsed and looked at. */
const CHANGED_OBJECT_MS = 0.2;
/** Any other is only looked at: 0.5 to 0.8 s for 55,000 of them (docs/speed.md, "5,000 nodes and 50,000 pods"). */
const OBJECT_MS = 0.015;
/** The webhook's function: a check of the secret, and one message. */
const WEBHOOK_MS = 20;

/** The lines START, END and REPORT, and what CloudWatch adds to each. */
const PLATFORM_BYTES = 420;
/** What CloudWatch counts for each line beside its text. */
const LINE_BYTES = 26;
/** A metric's line beside its labels: the object _aws, the name twice. */
const METRIC_BYTES = 320;
/** Keys and the attributes that an item of a record has beside the record. */
const ITEM_BYTES = 260;

/** The partition key, the attributes and their names that an entry of the history has beside its key and itself. */
const ENTRY_BYTES = 90;

const KB = 1_024;
const readUnits = (bytes: number): number => Math.max(1, Math.ceil(bytes / (4 * KB)));
const writeUnits = (bytes: number): number => Math.max(1, Math.ceil(bytes / KB));
/** The size of the item of a record, bytes. */
export const bytesOf = (record: object): number => packed(withSchema(record)).length + ITEM_BYTES;
/** The item of NodeClaims that are launched together: its members are no part of what is packed. */
const groupBytes = (group: unknown): number => packed(group).length + ITEM_BYTES;
const entryBytes = (entry: HistoryEntry): number => packed(entry).length + keyOf(entry).length + ENTRY_BYTES;

/** What the history adds: entries, their bytes, and request units of writes beyond those of the records. */
export interface HistoryUse {
  readonly entries: number;
  readonly bytes: number;
  readonly writes: number;
}

interface Totals {
  runMs: Record<string, number>;
  /** Remote calls by function, and by port. */
  callsOf: Record<string, number>;
  callsTo: Record<string, number>;
  tableReads: number;
  tableWrites: number;
  logBytes: number;
  calls: number;
  records: number;
  invocations: Record<string, number>;
  messages: number;
}

/** A call of the table and the request units that DynamoDB bills for it. */
export type OnTable = (call: PortCall, result: unknown, units: { readonly reads: number; readonly writes: number }) => void;

/**
 * Counts what AWS would bill for a lab. `take` returns what was used since the last call.
 * @param onTable is told of each call of the table
 */
export function billMeter(onTable?: OnTable) {
  const runMs: Record<string, number> = {};
  const callsOf: Record<string, number> = {};
  const callsTo: Record<string, number> = {};
  let tableReads = 0;
  let tableWrites = 0;
  let logBytes = 0;
  let calls = 0;
  const history = { entries: 0, bytes: 0, writes: 0 };
  /** What entries add to a write of so many units without them: a transaction writes all of it twice. */
  const keep = (entries: readonly HistoryEntry[] = [], alone: number): void => {
    if (entries.length === 0) return;
    const sizes = entries.map(entryBytes);
    const writes = 2 * sizes.reduce((sum, size) => sum + writeUnits(size), 0) + alone;
    history.entries += entries.length;
    history.bytes += sizes.reduce((sum, size) => sum + size, 0);
    history.writes += writes;
    tableWrites += writes;
  };
  const zipped = new Map<string, number>();
  const zippedBytes = (name: string, version: string, bytes: Uint8Array): number => {
    const key = `${name} ${version}`;
    const known = zipped.get(key) ?? gzipSync(bytes).length;
    zipped.set(key, known);
    return known;
  };

  const meterStore = ({ method, args }: PortCall, result: unknown): void => {
    const records = () => (result as readonly object[]).reduce((sum, record) => sum + bytesOf(record), 0);
    switch (method) {
      case "get":
        tableReads += readUnits(result === undefined ? 0 : bytesOf(result as object));
        break;
      case "byInstance":
        // The index is read with eventual consistency, at half the price.
        tableReads += readUnits(result === undefined ? 0 : bytesOf(result as object)) / 2;
        break;
      case "list":
      case "commands":
        tableReads += readUnits(records());
        break;
      case "unavailable":
        tableReads += readUnits((result as readonly object[]).length * ITEM_BYTES);
        break;
      case "documentVersion":
        tableReads += 1;
        break;
      case "getDocument": {
        const document = result as { readonly bytes: Uint8Array; readonly version: string } | undefined;
        tableReads += readUnits(document === undefined ? 0 : zippedBytes(String(args[0]), document.version, document.bytes));
        break;
      }
      case "putDocument":
        tableWrites += writeUnits(zippedBytes(String(args[0]), String(args[2]), args[1] as Uint8Array));
        break;
      case "create":
      case "update":
      case "remove": {
        const record = args[0] as NodeClaimRecord;
        const units = writeUnits(bytesOf(record));
        // An item with an instance is in the index too, as a whole.
        tableWrites += units * (record.instance === undefined ? 1 : 2);
        keep(args[1] as readonly HistoryEntry[] | undefined, units);
        break;
      }
      case "updateCommand":
      case "removeCommand": {
        const units = writeUnits(bytesOf(args[0] as CommandRecord));
        tableWrites += units;
        keep(args[1] as readonly HistoryEntry[] | undefined, units);
        break;
      }
      case "addHistory": {
        const units = (args[0] as readonly HistoryEntry[]).map((entry) => writeUnits(entryBytes(entry)));
        tableWrites += units.reduce((sum, one) => sum + one, 0);
        break;
      }
      case "history":
        // Two days' partitions, with eventual consistency.
        tableReads += Math.max(1, (result as readonly HistoryEntry[]).reduce((sum, entry) => sum + entryBytes(entry), 0) / (8 * KB));
        break;
      case "createCommand":
        // A transaction writes twice, and checks the lease.
        tableWrites += 2 * (writeUnits(bytesOf(args[1] as CommandRecord)) + 1);
        break;
      case "writeIntents": {
        const [, claims, command] = args as [unknown, readonly NodeClaimRecord[], CommandRecord | undefined];
        const items = command === undefined ? claims : [...claims, command];
        tableWrites += 2 * (items.reduce((sum, item) => sum + writeUnits(bytesOf(item)), 0) + 1);
        keep(args[3] as readonly HistoryEntry[] | undefined, 0);
        break;
      }
      case "markUnavailable":
        tableWrites += (args[1] as readonly unknown[]).length;
        break;
      case "wasSeen":
        tableReads += 1;
        break;
      case "launchGroup":
        tableReads += readUnits(result === undefined ? 0 : groupBytes(result));
        break;
      case "joinLaunch":
      case "updateLaunchGroup":
        tableWrites += writeUnits(groupBytes(result));
        break;
      case "swapPace":
      case "acquireLease":
      case "renewLease":
      case "releaseLease":
      case "isFirstWithin":
        tableWrites += 1;
        break;
      default:
        throw new Error(`what DynamoDB bills for ${method} is not known: test/simulation/bill/meter.ts must say it`);
    }
  };

  /** What each function has listed last, by its arguments: versions of objects by UID, as its informer knows them. */
  const listed = new Map<string, ReadonlyMap<string, string>>();
  const listMs = (name: string, args: readonly unknown[], objects: readonly KubernetesObject[]): number => {
    const key = `${name} ${JSON.stringify(args)}`;
    const before = listed.get(key);
    const now = new Map(objects.map(({ metadata: { uid = "", resourceVersion = "" } }) => [uid, resourceVersion]));
    listed.set(key, now);
    const changed = [...now].filter(([uid, version]) => before?.get(uid) !== version).length;
    return OBJECT_MS * objects.length + (CHANGED_OBJECT_MS - OBJECT_MS) * changed;
  };

  const hooks: CallHooks = {
    after(call, result) {
      const name = call.invocation?.name ?? "";
      const isList = call.port === "kubernetes" && call.method === "list" && Array.isArray(result);
      callsOf[name] = (callsOf[name] ?? 0) + 1;
      callsTo[call.port] = (callsTo[call.port] ?? 0) + 1;
      if (isList) runMs[name] = (runMs[name] ?? 0) + listMs(name, call.args, result as readonly KubernetesObject[]);
      if (call.port === "store") {
        const before = { reads: tableReads, writes: tableWrites };
        meterStore(call, result);
        onTable?.(call, result, { reads: tableReads - before.reads, writes: tableWrites - before.writes });
      }
      return undefined;
    },
  };
  const onLog = (line: TimedLogRecord): void => {
    if (line.level !== "debug") logBytes += JSON.stringify(line).length + LINE_BYTES;
  };

  /** Counts the webhook's calls of a lab from now on. */
  const attach = (lab: Lab): void => {
    const { wake } = lab.wakeUps;
    Object.assign(lab.wakeUps, {
      wake: (wakeUps: Parameters<typeof wake>[0]) => {
        if (currentInvocation() === undefined && wakeUps.length > 0) calls++;
        return wake(wakeUps);
      },
    });
  };
  const totals = (lab: Lab): Totals => {
    const { provision, claims, disruption, catalog, interruption } = lab.wakeUps;
    return {
      ...{ runMs: { ...runMs }, callsOf: { ...callsOf }, callsTo: { ...callsTo } },
      ...{ tableReads, tableWrites, logBytes, calls },
      records: metricRecords(lab).length,
      invocations: Object.fromEntries(lab.invocations),
      messages: [provision, claims, disruption, catalog, interruption].reduce((sum, queue) => sum + queue.delivered(), 0),
    };
  };
  let former: Totals | undefined;
  const take = (lab: Lab): { readonly usage: Usage; readonly metrics: MetricsInHour } => {
    const now = totals(lab);
    const before = former;
    former = now;
    return usageBetween(before, now, metricRecords(lab).slice(before?.records ?? 0), lab.world.cluster);
  };
  return { hooks, onLog, attach, take, history: (): HistoryUse => ({ ...history }) };
}

const metricRecords = (lab: Lab): readonly MetricRecord[] => (lab.deps.metrics as unknown as { readonly records: MetricRecord[] }).records;

function usageBetween(before: Totals | undefined, now: Totals, values: readonly MetricRecord[], cluster: string) {
  const ran = Object.entries(now.invocations).map(([name, n]) => ({ name, n: n - (before?.invocations[name] ?? 0) }));
  const calls = now.calls - (before?.calls ?? 0);
  const invocations = ran.reduce((sum, { n }) => sum + n, 0) + calls;
  const gb = (name: string): number => FUNCTIONS[name as FunctionName].memory / 1_024;
  const gbMs = ran.reduce(
    (sum, { name, n }) => sum + gb(name) * (n * RUN_MS + (now.runMs[name] ?? 0) - (before?.runMs[name] ?? 0)),
    calls * WEBHOOK_MS * gb("notify"),
  );
  const metricBytes = values.reduce((sum, { labels }) => sum + METRIC_BYTES + 2 * JSON.stringify(labels).length + LINE_BYTES, 0);
  const to = (port: string): number => (now.callsTo[port] ?? 0) - (before?.callsTo[port] ?? 0);
  const quantities: Usage = {
    ...{ invocations, gbSeconds: gbMs / 1_000 },
    callGb: Object.entries(now.callsOf).reduce((sum, [name, n]) => sum + gb(name) * (n - (before?.callsOf[name] ?? 0)), 0),
    apiRequests: to("kubernetes"),
    managementRequests: to("fleet") + to("inventory"),
    tableReads: now.tableReads - (before?.tableReads ?? 0),
    tableWrites: now.tableWrites - (before?.tableWrites ?? 0),
    messages: now.messages - (before?.messages ?? 0),
    logBytes: now.logBytes - (before?.logBytes ?? 0) + metricBytes + invocations * PLATFORM_BYTES,
  };
  return { usage: mapUsage((quantity) => quantities[quantity]), metrics: metricsOf(values, cluster) };
}

/** How many metrics CloudWatch makes of values of one hour. */
function metricsOf(values: readonly MetricRecord[], cluster: string): MetricsInHour {
  const of = (sent: SentMetrics): number =>
    new Set(
      values.flatMap(({ name, labels }) =>
        dimensionSets(sent, cluster, name, labels).map((set) => JSON.stringify([name, ...set.map((label) => [label, labels[label]])])),
      ),
    ).size;
  return Object.fromEntries(SENT_METRICS.map((sent) => [sent, of(sent)])) as Record<SentMetrics, number>;
}
