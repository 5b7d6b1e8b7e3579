/*
 * A cluster of many spot machines of which EC2 takes many back at once, and what each function is given then.
 * In: how many NodeClaims and notices. Out: the invocations of one function, and the records that it has read.
 */
import { randomBytes } from "node:crypto";
import { gzipSync } from "node:zlib";
import type { CloudWatchLogsEvent, SQSEvent } from "aws-lambda";
import { managedObjects } from "#adapters/kubernetes/managed-objects.ts";
import { clusterToken, fixedToken } from "#adapters/lambda/path-token.ts";
import { embeddedNodeClaimStore } from "#adapters/store/embedded-store.ts";
import { memoryMetrics } from "#adapters/telemetry/metrics.ts";
import type { Instance } from "#core/model/instance.ts";
import type { NodeClaimStore } from "#core/ports/node-claim-store.ts";
import { auditEntry } from "#functions/audit/entry.ts";
import { interruptionEntry } from "#functions/interruption/entry.ts";
import { lifecycleEntry } from "#functions/lifecycle/entry.ts";
import { notify } from "#functions/notify/notify.ts";
import type { LifecycleDeps } from "#functions/shared/cluster-deps.ts";
import { ProcessMemory } from "#functions/shared/process-memory.ts";
import { DEFAULT_SETTINGS } from "#functions/wiring/settings.ts";
import { PRODUCT, simulatedKubernetes } from "#lab/world/api-server.ts";
import { eventOf } from "#lab/world/cloud-events.ts";
import { createLabWorld } from "#lab/world/world.ts";
import type { ApiObject } from "#manifests/api-object.ts";
import { noVisibility, recordingLog, recordingWakeUps } from "../support/fakes.ts";
import * as objects from "../support/objects.ts";

/** The functions that a storm of notices reaches; "sweep" is the scheduled pass of the lifecycle function. */
export const STORMED = ["interruption", "lifecycle", "sweep", "notify", "audit"] as const;
export type Stormed = (typeof STORMED)[number];

const NOW = Date.parse("2026-01-01T00:00:00Z");
const CLUSTER = "c1";
const REGION = "us-west-2";
const ZONE = `${REGION}a`;
const SECRET = "0123456789abcdef0123";
const TOKEN = clusterToken(SECRET, CLUSTER);
/** Messages of one invocation (infra/stack.ts). */
const BATCH_SIZE = 10;
/** A minute's notices, ten times what AWS has been seen to send. */
export const NOTICES_PER_SECOND = 1_000 / 60;
/** CloudWatch Logs sends up to 6 MB in base64; deliveries of this size, packed, are common in a busy cluster. */
const DELIVERY_BYTES = 1_100_000;
const RECORDS_PER_DELIVERY = 100;
const LOG_GROUP = `/aws/eks/${CLUSTER}/cluster`;

const named = (i: number): string => `spot-${i}`;
const idOf = (i: number): string => `i-${String(i).padStart(17, "0")}`;

function instanceOf(i: number): Instance {
  const tags = { "karpenter.sh/nodeclaim": named(i), "eks:eks-cluster-name": CLUSTER, "karpenter-serverless/claim-uid": `uid-${named(i)}` };
  return {
    id: idOf(i),
    instanceType: "m5.large",
    zone: ZONE,
    capacityType: "spot",
    imageId: "ami-1",
    state: "running",
    launchedAt: 0,
    tags,
  };
}

/** Counts the records that are read, one by one or in lists. */
function counted(store: NodeClaimStore, add: (records: number) => void): NodeClaimStore {
  const one = <A extends unknown[], R>(read: (...args: A) => Promise<R>) => {
    return async (...args: A): Promise<R> => {
      add(1);
      return read(...args);
    };
  };
  return {
    ...store,
    get: one(store.get),
    byInstance: one(store.byInstance),
    list: async (...args) => {
      const records = await store.list(...args);
      add(records.length);
      return records;
    },
  };
}

export interface Storm {
  /** Plays the storm for the function; resolves to the number of invocations. */
  play(fn: Stormed): Promise<number>;
  readonly recordsRead: () => number;
  readonly errors: readonly string[];
}

/** @param claims NodeClaims of the cluster, each with its record, machine and node; `notices` of them are taken back */
export async function stormOf(claims: number, notices: number): Promise<Storm> {
  const world = createLabWorld({ seed: 1, start: NOW, cluster: CLUSTER });
  const table = embeddedNodeClaimStore();
  for (let i = 0; i < claims; i++) await settle(i, table, (object, user) => void world.store.create(object, { user }));
  let read = 0;
  let now = NOW;
  const log = recordingLog();
  const wakeUps = recordingWakeUps();
  const running = new Map(Array.from({ length: claims }, (_, i) => [idOf(i), instanceOf(i)]));
  const deps: LifecycleDeps = {
    cluster: { name: CLUSTER, endpoint: "", caBundle: "", account: "111122223333" } as LifecycleDeps["cluster"],
    kubernetes: managedObjects(simulatedKubernetes(world)),
    store: counted(table, (records) => {
      read += records;
    }),
    fleet: {
      describe: async (ids: readonly string[]) => ids.flatMap((id) => running.get(id) ?? []),
      list: async () => [...running.values()],
      terminate: async (id: string) => void running.delete(id),
      statuses: async () => [],
    } as unknown as LifecycleDeps["fleet"],
    wakeUps,
    catalogue: async () => ({ types: [], zones: [], onDemand: {} }) as never,
    log,
    metrics: memoryMetrics(),
    announcements: { announce: async () => {} },
    settings: DEFAULT_SETTINGS,
    memory: new ProcessMemory(),
    now: () => now,
    sleep: async () => {},
    later: () => () => {},
    newId: () => "id",
  };
  const host = {
    clusters: async () => [CLUSTER],
    clusterDeps: async () => deps,
    wakeUps,
    later: deps.later,
    log,
    changeVisibility: noVisibility,
  };
  const ours = Array.from({ length: notices }, (_, i) => i);
  const pass = (messages: number): void => {
    now += (messages / NOTICES_PER_SECOND) * 1_000;
  };
  const inBatches = async (bodies: readonly string[], handle: (event: SQSEvent) => Promise<unknown>): Promise<number> => {
    for (let at = 0; at < bodies.length; at += BATCH_SIZE) {
      const batch = bodies.slice(at, at + BATCH_SIZE);
      await handle(sqsEvent(batch));
      pass(batch.length);
    }
    return Math.ceil(bodies.length / BATCH_SIZE);
  };
  const interrupted = (): Promise<number> => {
    const bodies = ours.map((i) => JSON.stringify(eventOf("interruption", instanceOf(i), { region: REGION, id: `e-${i}`, now })));
    return inBatches(bodies, interruptionEntry({ ...host, store: deps.store, metrics: deps.metrics, now: deps.now }));
  };
  const afterNotices = async (play: () => Promise<number>): Promise<number> => {
    await interrupted();
    read = 0;
    return play();
  };
  const lifecycle = lifecycleEntry(host);
  const listener = { store: deps.store, wakeUps, log };
  const plays: Readonly<Record<Stormed, () => Promise<number>>> = {
    interruption: interrupted,
    lifecycle: () =>
      afterNotices(() => {
        const bodies = ours.map((i) => JSON.stringify({ version: 1, kind: "claim", cluster: CLUSTER, claim: named(i) }));
        return inBatches(bodies, lifecycle);
      }),
    sweep: () =>
      afterNotices(async () => {
        await lifecycle({ kind: "sweep" });
        return 1;
      }),
    notify: async () => {
      const isServed = async (name: string): Promise<boolean> => name === CLUSTER;
      for (const i of ours)
        await notify({ path: `/v1/${CLUSTER}/${TOKEN}`, body: review(i) }, { ...listener, isToken: fixedToken(SECRET), isServed });
      return notices;
    },
    audit: async () => {
      const deliveries = deliveriesOf(ours);
      const clusterOf = async (group: string): Promise<string | undefined> => (group === LOG_GROUP ? CLUSTER : undefined);
      for (const delivery of deliveries) await auditEntry({ ...listener, clusters: async () => [CLUSTER], clusterOf })(delivery);
      return deliveries.length;
    },
  };
  return { play: (fn) => plays[fn](), recordsRead: () => read, errors: log.errors };
}

async function settle(
  i: number,
  table: NodeClaimStore,
  create: (object: ApiObject & { kind: string }, user: string) => void,
): Promise<void> {
  const providerID = `aws:///${ZONE}/${idOf(i)}`;
  const conditions = ["Launched", "Registered", "Initialized"].map((type) => objects.condition(type));
  const claim = objects.nodeClaim(named(i), { uid: `uid-${named(i)}`, providerID, conditions, status: { nodeName: `node-${i}` } });
  const node = objects.node(`node-${i}`, { providerID, ready: true, labels: { "karpenter.sh/registered": "true" } });
  const finalizers = ["karpenter.sh/termination"];
  create({ ...claim, kind: "NodeClaim", metadata: { ...claim.metadata, finalizers } } as never, PRODUCT);
  create({ ...node, kind: "Node", metadata: { ...node.metadata, finalizers } } as never, PRODUCT);
  const own = objects.record(named(i), { now: NOW, manifest: { metadata: claim.metadata, spec: claim.spec } });
  const { state: _, launchedAt: __, tags: ___, ...instance } = instanceOf(i);
  const times = { launchedAt: NOW - 60_000, initializedAt: NOW - 30_000, dueAt: NOW + 3_600_000 };
  await table.create({ ...own, ...times, cluster: CLUSTER, uid: `uid-${named(i)}`, instance, version: 0 });
}

function sqsEvent(bodies: readonly string[]): SQSEvent {
  const attributes = { ApproximateReceiveCount: "1", SentTimestamp: "0", SenderId: "", ApproximateFirstReceiveTimestamp: "0" };
  const record = { attributes, messageAttributes: {}, md5OfBody: "", eventSource: "aws:sqs", awsRegion: REGION };
  return {
    Records: bodies.map((body, i) => ({
      ...record,
      messageId: String(i),
      receiptHandle: "",
      body,
      eventSourceARN: `arn:aws:sqs:${REGION}:111122223333:interruption`,
    })),
  };
}

/** The webhook call for a node that becomes unschedulable. */
const review = (i: number): string =>
  JSON.stringify({ apiVersion: "admission.k8s.io/v1", kind: "AdmissionReview", request: { uid: `u-${i}`, ...nodeWrite(i) } });

const nodeWrite = (i: number): object => ({
  operation: "UPDATE",
  resource: { group: "", version: "v1", resource: "nodes" },
  name: `node-${i}`,
  object: { spec: { providerID: `aws:///${ZONE}/${idOf(i)}` } },
});

/** The audit records of the nodes' writes, padded with text that does not shrink, in deliveries of DELIVERY_BYTES. */
function deliveriesOf(nodes: readonly number[]): readonly CloudWatchLogsEvent[] {
  const padded = (i: number): object => auditRecord(i, randomBytes(DELIVERY_BYTES / RECORDS_PER_DELIVERY).toString("base64"));
  const logEvents = nodes.map((i) => ({ id: String(i), timestamp: NOW, message: JSON.stringify(padded(i)) }));
  const envelope = { messageType: "DATA_MESSAGE", owner: "111122223333", logGroup: LOG_GROUP, logStream: "kube-apiserver-audit-1" };
  return Array.from({ length: Math.ceil(nodes.length / RECORDS_PER_DELIVERY) }, (_, n) => {
    const part = logEvents.slice(n * RECORDS_PER_DELIVERY, (n + 1) * RECORDS_PER_DELIVERY);
    return { awslogs: { data: gzipSync(JSON.stringify({ ...envelope, logEvents: part })).toString("base64") } };
  });
}

const auditRecord = (i: number, padding: string): object => ({
  kind: "Event",
  apiVersion: "audit.k8s.io/v1",
  stage: "ResponseComplete",
  verb: "patch",
  user: { username: `system:node:node-${i}` },
  objectRef: { resource: "nodes", name: `node-${i}`, apiVersion: "v1" },
  responseStatus: { code: 200 },
  requestObject: { spec: { unschedulable: true } },
  responseObject: { spec: { providerID: `aws:///${ZONE}/${idOf(i)}` } },
  annotations: { padding },
});
