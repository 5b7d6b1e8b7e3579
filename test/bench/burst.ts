/**
 * When do the first machines of a burst of pods start? `node test/bench/burst.ts [--pods 50000] [--of deployments]`
 * plays one plan of `provision` for pods that all wait at once in a cluster without nodes. The lists are in memory, so
 * what reading them takes is not in it (large-cluster-on-server.ts). The table takes `--write-ms` for a transaction,
 * and a message batch `--send-ms`, which are guesses at DynamoDB's and SQS's times. Prints a JSON line: when, in
 * seconds since the start, the plan was there, and the first and the last NodeClaim were woken for their launch.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { bundledCatalogue } from "#adapters/catalogue/bundled.ts";
import { managedObjects } from "#adapters/kubernetes/managed-objects.ts";
import { sqliteNodeClaimStore } from "#adapters/store/sqlite-store.ts";
import { memoryLog } from "#adapters/telemetry/log.ts";
import { memoryMetrics } from "#adapters/telemetry/metrics.ts";
import type { Kind } from "#core/ports/kubernetes.ts";
import { provision } from "#functions/provision/provision.ts";
import type { ClusterDeps } from "#functions/shared/cluster-deps.ts";
import { ProcessMemory } from "#functions/shared/process-memory.ts";
import { DEFAULT_SETTINGS } from "#functions/wiring/settings.ts";
import { NODE_CLASS, nodePool, ON_DEMAND } from "../simulation/story.ts";
import { FAMILIES_AND_SHAPES, settingOf } from "./workloads.ts";

const { values } = parseArgs({
  options: {
    pods: { type: "string", default: "50000" },
    of: { type: "string", default: "deployments" },
    "write-ms": { type: "string", default: "40" },
    "send-ms": { type: "string", default: "15" },
  },
});
const CLUSTER = "bench";
const family = FAMILIES_AND_SHAPES.find((name) => name === values.of);
if (family === undefined) throw new Error(`--of ${values.of}: is none of ${FAMILIES_AND_SHAPES.join(", ")}`);

const CONDITIONS = ["ValidationSucceeded", "NodeClassReady", "Ready"].map((type) => ({
  ...{ type, status: "True", reason: type, message: "", lastTransitionTime: "2026-01-02T00:00:00Z", observedGeneration: 1 },
}));
const catalogue = bundledCatalogue("us-west-2");
const pool = nodePool([ON_DEMAND], { disruption: { consolidationPolicy: "WhenEmpty", consolidateAfter: "1h" }, limits: {} });
const pods = settingOf(family)
  .pods(Number(values.pods))
  .map((pod) => ({ ...pod, metadata: { ...pod.metadata, uid: pod.metadata.name, creationTimestamp: "2026-01-02T03:04:05Z" } }));
const objects: Partial<Record<Kind, readonly object[]>> = {
  ...{ Pod: pods, NodePool: [{ ...pool, status: { conditions: CONDITIONS } }] },
  EC2NodeClass: [
    {
      ...NODE_CLASS,
      status: {
        conditions: CONDITIONS,
        subnets: catalogue.zones.map(({ name, zoneId }) => ({ id: name, zone: name, zoneID: zoneId })),
        amis: ["amd64", "arm64"].map((arch) => ({
          id: `ami-${arch}`,
          requirements: [{ key: "kubernetes.io/arch", operator: "In", values: [arch] }],
        })),
      },
    },
  ],
};
const table = sqliteNodeClaimStore();
const messages = { woken: 0, first: 0, last: 0 };
let planned = 0;
let began = 0;
const since = (): number => Math.round(performance.now() - began) / 1_000;
const log = memoryLog();

const deps = {
  cluster: { name: CLUSTER, endpoint: "", caBundle: "" },
  memory: new ProcessMemory(),
  kubernetes: managedObjects({
    list: async (kind: Kind) => objects[kind] ?? [],
    get: async () => undefined,
    version: async () => "1.36",
    publish: async () => {},
    nominate: async () => {},
  } as never),
  store: {
    ...table,
    writeIntents: async (...[lease, records, command, history, onWritten]: Parameters<typeof table.writeIntents>) => {
      planned = since();
      await table.writeIntents(lease, records, command, history, async (written) => {
        await sleep(Number(values["write-ms"]));
        await onWritten?.(written);
      });
    },
  },
  wakeUps: {
    wake: async (wakeUps: readonly { readonly kind: string }[]) => {
      const claims = wakeUps.filter(({ kind }) => kind === "claim").length;
      if (claims === 0) return;
      await sleep(Number(values["send-ms"]));
      messages.woken += claims;
      messages.last = since();
      if (messages.first === 0) messages.first = messages.last;
    },
  },
  ...{ catalogue: async () => catalogue, log, metrics: memoryMetrics(), announcements: { announce: async () => {} } },
  ...{ settings: DEFAULT_SETTINGS, now: Date.now, sleep: async () => {}, later: () => () => {}, newId: () => crypto.randomUUID() },
} as unknown as ClusterDeps;

for (const run of ["cold", "warm"]) {
  for (const { cluster, name } of await table.list(CLUSTER)) {
    const record = await table.get(cluster, name);
    if (record !== undefined) await table.remove(record);
  }
  Object.assign(messages, { woken: 0, first: 0, last: 0 });
  const cpu = process.cpuUsage();
  began = performance.now();
  await provision({ cause: "Sweep" }, deps);
  const used = process.cpuUsage(cpu);
  const line = {
    run,
    of: family,
    pods: pods.length,
    nodeClaims: messages.woken,
    planned,
    firstWoken: messages.first,
    lastWoken: messages.last,
  };
  console.log(JSON.stringify({ ...line, ended: since(), cpuSeconds: Math.round((used.user + used.system) / 1e4) / 100 }));
}
table.close();
