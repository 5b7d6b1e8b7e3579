/**
 * The sweeps of a large cluster, within what Lambda gives a function: `node test/bench/large-cluster.ts [--nodes 5000]
 * [--pods 50000]`. Each case runs in a process of its own, over an API server in memory that answers pages of JSON, and
 * a table in memory. Prints a line for each: seconds, CPU seconds, memory, requests, bytes, and what DynamoDB bills.
 */
import { spawnSync } from "node:child_process";
import { parseArgs } from "node:util";
import { bundledCatalogue } from "#adapters/catalogue/bundled.ts";
import { kubernetesClient } from "#adapters/kubernetes/client.ts";
import { RESOURCES } from "#adapters/kubernetes/kinds.ts";
import { managedObjects } from "#adapters/kubernetes/managed-objects.ts";
import type { Transport } from "#adapters/kubernetes/transport.ts";
import { embeddedNodeClaimStore } from "#adapters/store/embedded-store.ts";
import { withSchema } from "#adapters/store/records.ts";
import { packed, unpacked } from "#adapters/store/table-dynamodb.ts";
import { memoryLog } from "#adapters/telemetry/log.ts";
import { memoryMetrics } from "#adapters/telemetry/metrics.ts";
import type { Instance } from "#core/model/instance.ts";
import type { NodeClaimRecord } from "#core/model/node-claim-record.ts";
import type { Kind, Kinds } from "#core/ports/kubernetes.ts";
import { disrupt } from "#functions/disruption/disrupt.ts";
import { sweep } from "#functions/lifecycle/sweep.ts";
import { provisionPass } from "#functions/provision/entry.ts";
import type { LifecycleDeps } from "#functions/shared/cluster-deps.ts";
import { ProcessMemory } from "#functions/shared/process-memory.ts";
import { DEFAULT_SETTINGS } from "#functions/wiring/settings.ts";
import { FUNCTIONS, type FunctionName } from "#infra/functions.ts";
import { bigClaim, bigClaimStatus, bigNode, bigPod, bigPodStatus, nodeName } from "../adapters/kubernetes/big-cluster.ts";
import { NODE_CLASS, nodePool, ON_DEMAND } from "../simulation/story.ts";
import { bigRecord } from "./big-record.ts";

const { values } = parseArgs({
  options: { nodes: { type: "string", default: "5000" }, pods: { type: "string", default: "50000" }, only: { type: "string" } },
});
const size = { nodes: Number(values.nodes), pods: Number(values.pods) };
const CLUSTER = "bench";
const START = Date.parse("2026-01-03T00:00:00Z");
const MINUTE = 60_000;
/** Pods that come before a plan. */
const NEW_PODS = 100;

type Sweep = (deps: LifecycleDeps) => Promise<void>;
const SWEEPS: Readonly<Record<string, Sweep>> = {
  provision: (deps) => provisionPass({ cause: "Sweep" }, deps),
  disruption: (deps) => disrupt({ cause: "Sweep" }, deps),
  lifecycle: sweep,
};

const stamped = (kind: Kind, object: object, i: number): object => {
  const { metadata } = object as { readonly metadata: object };
  return {
    ...object,
    kind,
    metadata: { uid: `${kind}-${i}`, creationTimestamp: "2026-01-02T03:04:05Z", resourceVersion: String(i + 1), ...metadata },
  };
};

/** The API server: each kind as pages of JSON, which are parsed anew for each list. */
function apiServer() {
  const claims = Array.from({ length: size.nodes }, (_, i) => {
    const claim = bigClaim(i);
    return {
      ...claim,
      metadata: { ...claim.metadata, annotations: { "karpenter-serverless/intent": `intent-${i}` } },
      status: bigClaimStatus(i),
    };
  });
  const pods = Array.from({ length: size.pods }, (_, i) => {
    const pod = bigPod(i, nodeName(i % size.nodes));
    return { ...pod, status: bigPodStatus(i, pod) };
  });
  const pool = nodePool([ON_DEMAND], { disruption: { consolidationPolicy: "WhenEmpty", consolidateAfter: "1h" }, limits: {} });
  const status = {
    conditions: ["ValidationSucceeded", "NodeClassReady", "Ready"].map((type) => ({
      type,
      status: "True",
      lastTransitionTime: "2026-01-02T00:00:00Z",
    })),
  };
  const objects: Partial<Record<Kind, readonly object[]>> = {
    Node: Array.from({ length: size.nodes }, (_, i) => bigNode(i)),
    ...{ NodeClaim: claims, Pod: pods, NodePool: [{ ...pool, status }], EC2NodeClass: [{ ...NODE_CLASS, status }] },
  };
  const PAGE = 500;
  const count = { requests: 0, bytes: 0 };
  const pagesOf = (kind: Kind, items: readonly object[]): readonly string[] => {
    const all = items.map((object, i) => stamped(kind, object, i));
    const parts = Array.from({ length: Math.max(1, Math.ceil(all.length / PAGE)) }, (_, i) => all.slice(i * PAGE, (i + 1) * PAGE));
    return parts.map((part, i) =>
      JSON.stringify({ items: part, metadata: { resourceVersion: "9", ...(i < parts.length - 1 && { continue: String(i + 1) }) } }),
    );
  };
  const pages = new Map((Object.keys(RESOURCES) as Kind[]).map((kind) => [kind, pagesOf(kind, objects[kind] ?? [])]));
  const byName = new Map(claims.map((claim, i) => [claim.metadata.name, i]));
  const current: object[] = claims.map((claim, i) => stamped("NodeClaim", claim, i));
  /** A status that is written is in the next list. */
  const writeClaim = (name: string, written: object): object => {
    const i = byName.get(name) ?? 0;
    current[i] = written;
    const page = Math.floor(i / PAGE);
    const own = pages.get("NodeClaim");
    const metadata = (JSON.parse(own?.[page] ?? "{}") as { readonly metadata: object }).metadata;
    stale.add(page);
    staleMetadata.set(page, metadata);
    return written;
  };
  const stale = new Set<number>();
  const staleMetadata = new Map<number, object>();
  const refresh = (): void => {
    const own = [...(pages.get("NodeClaim") ?? [])];
    for (const page of stale)
      own[page] = JSON.stringify({ items: current.slice(page * PAGE, (page + 1) * PAGE), metadata: staleMetadata.get(page) });
    stale.clear();
    pages.set("NodeClaim", own);
  };
  const unbound: object[] = [];
  const kinds = new Map(Object.entries(RESOURCES).map(([kind, { plural }]) => [plural, kind as Kind]));
  const send: Transport = async ({ method, path, body, query = {} }) => {
    count.requests++;
    const written = /nodeclaims\/([^/]+)\/status$/.exec(path)?.[1];
    if (method === "PUT" && written !== undefined) return { status: 200, body: writeClaim(written, body as object) };
    if (method !== "GET") return { status: 200, body: {} };
    refresh();
    const [plural = ""] = path.split("/").slice(-1);
    const kind = kinds.get(plural);
    if (kind === undefined) return path === "/version" ? { status: 200, body: { major: "1", minor: "34" } } : { status: 404, body: "" };
    const isUnbound = kind === "Pod" && String(query["fieldSelector"] ?? "").startsWith("spec.nodeName=,");
    const own = isUnbound
      ? pagesOf(kind, unbound)
      : kind === "Pod" && query["continue"] === undefined && unbound.length > 0
        ? undefined
        : pages.get(kind);
    const text = own === undefined ? withMore(pages.get(kind)?.[0] ?? "", unbound) : (own[Number(query["continue"] ?? 0)] ?? "");
    count.bytes += text.length;
    return { status: 200, body: JSON.parse(text) };
  };
  const withMore = (page: string, more: readonly object[]): string => {
    const { items, metadata } = JSON.parse(page) as { items: object[]; metadata: object };
    return JSON.stringify({ items: [...items, ...more.map((object, i) => stamped("Pod", object, 1e6 + i))], metadata });
  };
  return { send, count, unbound };
}

const recordsOf = (): readonly NodeClaimRecord[] =>
  Array.from({ length: size.nodes }, (_, i) => bigRecord(i, { cluster: CLUSTER, at: START - 86_400_000, ...size }));

async function measure(name: string): Promise<void> {
  const { send, count, unbound } = apiServer();
  const table = embeddedNodeClaimStore();
  const records = recordsOf();
  for (const record of records) await table.create(record);
  let now = START;
  /** The API server and the table are in this process, too. */
  const before = process.memoryUsage.rss();
  const instances = records.map(({ name: claim, instance }) => ({
    ...{ ...instance, state: "running", launchedAt: START - 86_400_000 },
    tags: { "karpenter.sh/nodeclaim": claim, "eks:eks-cluster-name": CLUSTER },
  })) as unknown as readonly Instance[];
  // DynamoDB bills 4 KB a read and 1 KB a write; records come packed, and are unpacked for each list.
  const items = records.map((record) => packed(withSchema({ ...record, version: 1 })));
  const listUnits = Math.ceil(items.reduce((sum, { length }) => sum + length + ITEM_BYTES, 0) / 4_096);
  const names = new Map(records.map(({ name: claim }, i) => [claim, i]));
  const billed = { tableReads: 0, tableWrites: 0 };
  const counted = Object.fromEntries(
    Object.entries(table).map(([method, call]) => [
      method,
      async (...args: unknown[]) => {
        if (method === "list") {
          billed.tableReads += listUnits;
          return items.map((item) => unpacked(item));
        }
        if (method === "update") {
          const record = args[0] as NodeClaimRecord;
          const written = { ...record, version: record.version + 1 };
          items[names.get(record.name) ?? 0] = packed(withSchema(written));
          billed.tableWrites += 2 * Math.ceil((listUnits * 4_096) / size.nodes / 1_024);
          return written;
        }
        if (/^(get|by|unavailable|commands|document)/.test(method)) billed.tableReads++;
        else billed.tableWrites++;
        return (call as (...given: unknown[]) => Promise<unknown>)(...args);
      },
    ]),
  ) as unknown as typeof table;
  // Lists that the warm function remembers are the same objects each time.
  const client = kubernetesClient({ transport: send, server: "", token: async () => "" } as never);
  const remembered = new Map<string, readonly Kinds[Kind][]>();
  const kubernetes = {
    ...client,
    updateStatus: async (kind: Kind, object: never) => {
      for (const key of remembered.keys()) if (key.includes(kind)) remembered.delete(key);
      return client.updateStatus(kind, object);
    },
    list: async (kind: Kind, selectors: object = {}) => {
      const key = JSON.stringify([kind, selectors]);
      const known = remembered.get(key);
      if (known !== undefined) return known;
      const items = await client.list(kind, selectors);
      if (items.length > 500) remembered.set(key, items);
      return items;
    },
  };
  const deps = {
    ...{
      cluster: { name: CLUSTER, endpoint: "", caBundle: "" },
      memory: new ProcessMemory(),
      kubernetes: managedObjects(kubernetes as never),
      store: counted,
    },
    fleet: { list: async () => instances, describe: async () => [], impaired: async () => [] },
    ...{ wakeUps: { wake: async () => {} }, catalogue: async () => CATALOGUE, log: memoryLog(), metrics: memoryMetrics() },
    ...{
      announcements: { announce: async () => {} },
      settings: DEFAULT_SETTINGS,
      now: () => now,
      sleep: async () => {},
    },
    ...{ later: () => () => {}, newId: () => crypto.randomUUID() },
  } as unknown as LifecycleDeps;
  const [fn = ""] = name.split(" ");
  const whole = SWEEPS[fn] as Sweep;
  const run = async (what: string, work: () => Promise<unknown>): Promise<void> => {
    now += MINUTE;
    Object.assign(count, { requests: 0, bytes: 0 });
    Object.assign(billed, { tableReads: 0, tableWrites: 0 });
    const cpu = process.cpuUsage();
    const began = performance.now();
    await work();
    const seconds = (performance.now() - began) / 1_000;
    const used = process.cpuUsage(cpu);
    const line = {
      ...{ case: `${fn}, ${what}`, ...size, seconds: rounded(seconds), cpuSeconds: rounded((used.user + used.system) / 1e6) },
      ...{
        mbOfFunction: EMPTY_MB + Math.round((process.memoryUsage.rss() - before) / 2 ** 20),
        requests: count.requests,
        mb: rounded(count.bytes / 2 ** 20),
      },
      ...billed,
      functionMb: FUNCTIONS[fn as FunctionName].memory,
    };
    console.log(JSON.stringify(line));
  };
  await run("cold", () => whole(deps));
  now += MINUTE;
  await run("warm", () => whole(deps));
  if (fn === "provision") {
    for (let i = 0; i < NEW_PODS; i++) {
      const { spec, ...pod } = bigPod(size.pods + i, "");
      const { nodeName: _, ...free } = spec;
      const conditions = [{ type: "PodScheduled", status: "False", reason: "Unschedulable", lastTransitionTime: "2026-01-02T03:04:05Z" }];
      unbound.push({ ...pod, spec: free, status: { phase: "Pending", conditions } });
    }
    await run(`${NEW_PODS} new pods, warm`, () => provisionPass({ cause: "PodsUnschedulable", detail: String(NEW_PODS) }, deps));
  }
}

/** A function before its first reading. */
const EMPTY_MB = 110;
/** Keys and the attributes that an item has beside the record. */
const ITEM_BYTES = 260;
const rounded = (value: number): number => Math.round(value * 100) / 100;
const CATALOGUE = bundledCatalogue("us-west-2");

if (values.only !== undefined) await measure(values.only);
else
  for (const fn of Object.keys(SWEEPS)) {
    const args = [import.meta.filename, "--nodes", values.nodes, "--pods", values.pods, "--only", fn];
    const { status } = spawnSync(process.execPath, args, { stdio: "inherit" });
    if (status !== 0) process.exitCode = 1;
  }
