/**
 * The sweeps of a large cluster against a real API server, by the adapters of the functions (informer, pages, packed
 * answers, 200 requests a second): `node test/bench/large-cluster-on-server.ts [--nodes 5000] [--pods 50000]`. Starts
 * test/e2e/cluster and fills it, which takes most of the time; with `--keep FOLDER` the filled cluster stays there, and
 * the next run of the same size begins with it. The server is started again once it is filled. Each function has
 * processes of its own: the first pass over the cluster ever, which writes what later passes find; then a process that
 * starts cold, and is warm after that. Prints a JSON line for each case, with what the API server's flow control has
 * counted meanwhile, and a table.
 */
import { spawnSync } from "node:child_process";
import { cpSync, existsSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { bundledCatalogue } from "#adapters/catalogue/bundled.ts";
import { kubernetesClient } from "#adapters/kubernetes/client.ts";
import { informer, type Readings } from "#adapters/kubernetes/informer.ts";
import { listMemory } from "#adapters/kubernetes/list-memory.ts";
import { paced } from "#adapters/kubernetes/pace.ts";
import { StaleReadingError } from "#adapters/kubernetes/remembered-list.ts";
import { httpsTransport, type Transport } from "#adapters/kubernetes/transport.ts";
import { embeddedNodeClaimStore } from "#adapters/store/embedded-store.ts";
import { memoryLog } from "#adapters/telemetry/log.ts";
import { memoryMetrics } from "#adapters/telemetry/metrics.ts";
import type { Instance } from "#core/model/instance.ts";
import { disrupt } from "#functions/disruption/disrupt.ts";
import { sweep } from "#functions/lifecycle/sweep.ts";
import { provisionPass } from "#functions/provision/entry.ts";
import type { LifecycleDeps } from "#functions/shared/cluster-deps.ts";
import { ProcessMemory } from "#functions/shared/process-memory.ts";
import { forDecision } from "#functions/wiring/decision.ts";
import { DEFAULT_SETTINGS } from "#functions/wiring/settings.ts";
import { FUNCTIONS, type FunctionName } from "#infra/functions.ts";
import { bigPod, fillCluster, inParallel } from "../adapters/kubernetes/big-cluster.ts";
import { startCluster, type TestCluster } from "../e2e/support/cluster.ts";
import { projectRoot } from "../e2e/support/paths.ts";
import { NODE_CLASS, nodePool, ON_DEMAND } from "../simulation/story.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { bigRecord } from "./big-record.ts";
import { countingTransport } from "./counting.ts";

const { values } = parseArgs({
  options: {
    nodes: { type: "string", default: "5000" },
    pods: { type: "string", default: "50000" },
    /** A running cluster that an earlier run has filled: set by this script for the processes that measure. */
    kubeconfig: { type: "string" },
    table: { type: "string" },
    only: { type: "string" },
    /** A folder in which the filled cluster stays, for the next run with the same size. */
    keep: { type: "string" },
    first: { type: "boolean", default: false },
  },
});
const size = { nodes: Number(values.nodes), pods: Number(values.pods) };
const CLUSTER = "bench";
const DAY = 86_400_000;
/** Who the functions are to the API server: administrators pass its flow control. */
const USER = "functions-of-the-bench";
/** Pods that change, and that come, before a pass. */
const CHANGED = 100;
/** After this time an API server may forget a change (75 s). */
const FORGOTTEN_MS = 80_000;

type Sweep = (deps: LifecycleDeps) => Promise<void>;
const SWEEPS: Readonly<Record<string, Sweep>> = {
  provision: (deps) => provisionPass({ cause: "Sweep" }, deps),
  disruption: (deps) => disrupt({ cause: "Sweep" }, deps),
  lifecycle: sweep,
};

interface Line {
  readonly case: string;
  readonly nodes: number;
  readonly pods: number;
  /** With the wait for the proof that what was read was up to date, which only a pass that writes has, up to 2 s. */
  readonly seconds: number;
  /** Passes, until one was up to date. */
  readonly tries: number;
  readonly cpuSeconds: number;
  /** Peak resident memory of the process so far. */
  readonly mb: number;
  readonly requests: number;
  /** Bodies as received, packed. */
  readonly mbReceived: number;
  readonly functionMb: number;
  readonly server: FlowControl;
}

async function measure(fn: string, kubeconfig: string, tablePath: string): Promise<void> {
  const { count, transport: counted } = countingTransport(kubeconfig, { "Impersonate-User": USER });
  const transport = paced(counted, { qps: 200, burst: 300 });
  const table = embeddedNodeClaimStore({ path: tablePath });
  const administrator = httpsTransport({ kubeconfig }).send;
  const hands = kubernetesClient({ kubeconfig, transport: administrator });
  const records = await table.list(CLUSTER);
  const instances = records.map(({ name, instance }) => ({
    ...{ ...instance, state: "running", launchedAt: Date.now() - DAY },
    tags: { "karpenter.sh/nodeclaim": name, "eks:eks-cluster-name": CLUSTER },
  })) as unknown as readonly Instance[];
  const read = informer({ memory: listMemory(100_000), cluster: CLUSTER, ...transport });
  const catalogue = bundledCatalogue("us-west-2");
  /** Each pass comes a minute after the last one. */
  let later = 0;
  const now = (): number => Date.now() + later;
  const kept = {
    ...{
      cluster: { name: CLUSTER, endpoint: "", caBundle: "" },
      memory: new ProcessMemory(),
      kubernetes: kubernetesClient({ kubeconfig, transport: transport.send }),
    },
    store: table,
    fleet: { list: async () => instances, describe: async () => [], impaired: async () => [] },
    ...{ wakeUps: { wake: async () => {} }, catalogue: async () => catalogue, log: memoryLog(), metrics: memoryMetrics() },
    ...{ announcements: { announce: async () => {} }, now, sleep: async () => {}, later: () => () => {} },
    newId: () => crypto.randomUUID(),
  };
  /** As a pass that writes: what it read must be proven, and a change that came late has it begin again. */
  const proven = async (pass: (readings: Readings) => Promise<unknown>): Promise<number> => {
    for (let tries = 1; ; tries++) {
      const readings = read();
      try {
        await pass(readings);
        await readings.prove();
        return tries;
      } catch (error) {
        if (!(error instanceof StaleReadingError) || tries === 5) throw error;
      }
    }
  };
  const run = async (what: string, work: (deps: LifecycleDeps) => Promise<unknown>): Promise<void> => {
    later += 61_000;
    const before = await flowControl(administrator);
    Object.assign(count, { requests: 0, bytes: 0 });
    const cpu = process.cpuUsage();
    const began = performance.now();
    const tries = await proven(async (readings) =>
      work(forDecision({ ...kept, settings: DEFAULT_SETTINGS } as never, readings) as unknown as LifecycleDeps),
    );
    const used = process.cpuUsage(cpu);
    const seconds = rounded((performance.now() - began) / 1_000);
    const line: Line = {
      ...{ case: `${fn}, ${what}`, ...size, seconds, tries },
      ...{ cpuSeconds: rounded((used.user + used.system) / 1e6), mb: Math.round(process.resourceUsage().maxRSS / 1_024) },
      ...{ requests: count.requests, mbReceived: rounded(count.bytes / 2 ** 20), functionMb: FUNCTIONS[fn as FunctionName].memory },
      server: difference(await flowControl(administrator), before),
    };
    console.log(JSON.stringify(line));
  };
  const whole = SWEEPS[fn] as Sweep;
  if (values.first) {
    await run("first ever", whole);
    table.close();
    return;
  }
  await run("cold", whole);
  await run("warm", whole);
  await touch(hands);
  await run(`warm, ${CHANGED} pods changed`, whole);
  if (fn !== "lifecycle") {
    await touch(hands, CHANGED);
    await sleep(FORGOTTEN_MS);
    // More than the server keeps of a quiet kind: the last hundred, and what is younger than FORGOTTEN_MS.
    await touch(hands, 2 * CHANGED, 3 * CHANGED);
    await run(`warm, ${4 * CHANGED} changes, of which the server has forgotten the first`, whole);
  }
  if (fn === "provision") {
    await inParallel(CHANGED, 12, (i) => unschedulable(hands, size.pods + i));
    await run(`warm, ${CHANGED} new pods planned`, (deps) => provisionPass({ cause: "PodsUnschedulable", detail: String(CHANGED) }, deps));
  }
  table.close();
}

/** By name, and fast: an API server forgets changes after 75 s, and sweeps come each minute. */
async function touch(hands: ReturnType<typeof kubernetesClient>, from = 0, count = CHANGED): Promise<void> {
  await inParallel(count, 12, async (i) => {
    const pod = await hands.get("Pod", bigPod(from + i, "").metadata.name, "default");
    if (pod === undefined) return;
    const conditions = [...(pod.status?.conditions ?? []), { type: "Bench", status: "True" as const }];
    await hands.updateStatus("Pod", { ...pod, status: { ...pod.status, conditions } });
  });
}

async function unschedulable(hands: ReturnType<typeof kubernetesClient>, i: number): Promise<void> {
  const { spec, ...pod } = bigPod(i, "");
  const { nodeName: _, ...free } = spec;
  const made = await hands.create("Pod", { ...pod, spec: free });
  const conditions = [
    { type: "PodScheduled", status: "False" as const, reason: "Unschedulable", lastTransitionTime: "2026-01-02T03:04:05Z" },
  ];
  await hands.updateStatus("Pod", { ...made, status: { phase: "Pending", conditions } });
}

/** Without kubelets no node reports its status, so the controllers that would evict its pods are off. */
const QUIET = ["--scheduler=false", "--controller-manager-arg=--controllers=serviceaccount-controller,namespace-controller"];

async function fill(cluster: TestCluster, tablePath: string): Promise<void> {
  await cluster.kubectl("apply", "-f", join(projectRoot, "infra", "crds"));
  await cluster.kubectl("wait", "--for=condition=Established", "crd", "--all", "--timeout=30s");
  await cluster.kubectl("create", "clusterrolebinding", "bench", "--clusterrole=cluster-admin", `--user=${USER}`);
  const client = kubernetesClient({ kubeconfig: cluster.kubeconfig });
  const conditions = ["ValidationSucceeded", "NodeClassReady", "Ready"].map((type) => ({
    ...{ type, status: "True", reason: type, message: "", lastTransitionTime: "2026-01-02T00:00:00Z", observedGeneration: 1 },
  }));
  const pool = nodePool([ON_DEMAND], { disruption: { consolidationPolicy: "WhenEmpty", consolidateAfter: "1h" }, limits: {} });
  for (const [kind, object] of [["EC2NodeClass", NODE_CLASS] as const, ["NodePool", pool] as const]) {
    const made = await client.create(kind, object as never);
    await client.updateStatus(kind, { ...(made as object), status: { conditions } } as never);
  }
  await fillCluster(client, size, (i) => ({ "karpenter-serverless/intent": `intent-${i}` }));
  const table = embeddedNodeClaimStore({ path: tablePath });
  const claims = await client.list("NodeClaim");
  const uidOf = new Map(claims.map(({ metadata }) => [metadata.name, metadata.uid]));
  for (let i = 0; i < size.nodes; i++) {
    const record = bigRecord(i, { cluster: CLUSTER, at: Date.now() - DAY, ...size });
    await table.create({ ...record, uid: uidOf.get(record.name) ?? "" });
  }
  table.close();
}

/** What the API server's priority and fairness has counted. */
interface FlowControl {
  readonly requests: number;
  readonly rejected: number;
  /** How long requests have waited in its queues, and have been worked on, s. */
  readonly waited: number;
  readonly worked: number;
  /** Of all requests together: a list of many objects counts as up to ten. */
  readonly seats: number;
}

/** Where flow control puts a user that no schema of its own names, as it does with the functions' role on EKS. */
const LEVEL = 'priority_level="global-default"';

async function flowControl(send: Transport): Promise<FlowControl> {
  const { body } = await send({ method: "GET", path: "/metrics" });
  const lines = String(body)
    .split("\n")
    .filter((line) => line.startsWith("apiserver_flowcontrol_") && line.includes(LEVEL));
  const sum = (name: string): number =>
    lines
      .filter((line) => line.startsWith(`apiserver_flowcontrol_${name}{`))
      .reduce((total, line) => total + Number(line.split(" ").at(-1)), 0);
  return {
    requests: sum("dispatched_requests_total"),
    rejected: sum("rejected_requests_total"),
    waited: sum("request_wait_duration_seconds_sum"),
    worked: sum("request_execution_seconds_sum"),
    seats: sum("work_estimated_seats_sum"),
  };
}

const difference = (after: FlowControl, before: FlowControl): FlowControl => ({
  requests: after.requests - before.requests,
  rejected: after.rejected - before.rejected,
  waited: rounded(after.waited - before.waited),
  worked: rounded(after.worked - before.worked),
  seats: after.seats - before.seats,
});

function measureAll(kubeconfig: string, tablePath: string): readonly Line[] {
  const lines: Line[] = [];
  for (const fn of values.only === undefined ? Object.keys(SWEEPS) : [values.only])
    for (const phase of [["--first"], []]) {
      const args = [import.meta.filename, "--only", fn, "--kubeconfig", kubeconfig, "--table", tablePath, ...phase];
      const { stdout, stderr, status } = spawnSync(process.execPath, [...args, "--nodes", values.nodes, "--pods", values.pods], {
        encoding: "utf8",
      });
      process.stdout.write(stdout);
      lines.push(
        ...stdout
          .split("\n")
          .filter(Boolean)
          .map((line) => JSON.parse(line) as Line),
      );
      if (status === 0) continue;
      console.error(`${fn}: ${stderr.slice(-2_000)}`);
      process.exitCode = 1;
    }
  return lines;
}

/** Nobody reads the audit log here, and it would cost the server as much as the writing. */
const NO_AUDIT = "apiVersion: audit.k8s.io/v1\nkind: Policy\nrules: [{level: None}]\n";

async function withCluster<T>(dataDir: string, body: (cluster: TestCluster) => Promise<T>): Promise<T> {
  const policy = join(dataDir, "audit-policy.yaml");
  writeFileSync(policy, NO_AUDIT);
  const cluster = await startCluster({ dataDir, clusterName: CLUSTER, args: [...QUIET, "--audit-policy", policy] });
  try {
    return await body(cluster);
  } finally {
    await cluster.stop();
  }
}

/** The folder of a filled cluster of the size. */
async function filled(): Promise<string> {
  const dataDir = temporaryFolder("large-cluster");
  const kept = values.keep && join(values.keep, `${size.nodes}-${size.pods}`);
  if (kept !== undefined && existsSync(kept)) {
    cpSync(kept, dataDir, { recursive: true });
    return dataDir;
  }
  const began = Date.now();
  await withCluster(dataDir, (cluster) => fill(cluster, join(dataDir, TABLE)));
  console.error(`filled with ${size.nodes} nodes and ${size.pods} pods in ${Math.round((Date.now() - began) / 1_000)} s`);
  if (kept !== undefined) {
    // Whole, or not there.
    cpSync(dataDir, `${kept}.part`, { recursive: true });
    renameSync(`${kept}.part`, kept);
  }
  return dataDir;
}

const TABLE = "table.db";

async function main(): Promise<void> {
  const dataDir = await filled();
  const lines = await withCluster(dataDir, async ({ kubeconfig }) => measureAll(kubeconfig, join(dataDir, TABLE)));
  const columns = ["case", "tries", "seconds", "CPU s", "peak MB", "of MB", "requests", "MB received", "seats", "waited s", "rejected"];
  console.log(`\n| ${columns.join(" | ")} |\n| --- |${" --: |".repeat(columns.length - 1)}`);
  for (const { case: name, tries, seconds, cpuSeconds, mb, functionMb, requests, mbReceived, server } of lines) {
    const cells = [name, tries, seconds, cpuSeconds, mb, functionMb, requests, mbReceived, server.seats, server.waited, server.rejected];
    console.log(`| ${cells.join(" | ")} |`);
  }
}

const rounded = (value: number): number => Math.round(value * 100) / 100;

if (values.only !== undefined && values.kubeconfig !== undefined && values.table !== undefined)
  await measure(values.only, values.kubeconfig, values.table);
else await main();
