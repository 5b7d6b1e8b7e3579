/**
 * The cost of reading a large cluster from a real API server: `node test/bench/cluster-read.ts [--nodes 1000] [--pods
 * 10000] [--runs 5]`. Starts test/e2e/cluster and fills it, which takes minutes, or reads an existing cluster:
 * `--kubeconfig FILE`. Prints a JSON line for each case, then a table.
 */
import { spawnSync } from "node:child_process";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { kubernetesClient } from "#adapters/kubernetes/client.ts";
import { informer } from "#adapters/kubernetes/informer.ts";
import { listMemory } from "#adapters/kubernetes/list-memory.ts";
import { type ClusterReader, readSnapshot } from "#adapters/kubernetes/snapshot.ts";
import { embeddedNodeClaimStore } from "#adapters/store/embedded-store.ts";
import { REGISTERED } from "#core/model/labels.ts";
import type { Snapshot } from "#core/model/snapshot.ts";
import { fillCluster, inParallel } from "../adapters/kubernetes/big-cluster.ts";
import { startCluster } from "../e2e/support/cluster.ts";
import { projectRoot } from "../e2e/support/paths.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { countingTransport } from "./counting.ts";

interface Line {
  readonly case: string;
  readonly nodes: number;
  readonly pods: number;
  readonly runs: number;
  /** Median time until a decision can be made, ms. */
  readonly readMs: number;
  /** Median time until the decision may be carried out, ms. */
  readonly provenMs: number;
  readonly requests: number;
  /** Size of the bodies as received, compressed or not. */
  readonly wireKib: number;
  /** CPU time of this process. */
  readonly cpuMs: number;
  /** Incomplete readings of all runs: a decision made on them is not carried out. */
  readonly disproven: number;
  /** Heap after a garbage collection, with the snapshot and the caches, above that of an empty process. */
  readonly heapMib: number;
  /** Maximum resident memory of the process so far. */
  readonly rssMib: number;
}

const { values } = parseArgs({
  options: {
    nodes: { type: "string", default: "1000" },
    pods: { type: "string", default: "10000" },
    runs: { type: "string", default: "5" },
    kubeconfig: { type: "string" },
    /** The case to measure: set by this script for the process that measures. */
    only: { type: "string" },
  },
});
const size = { nodes: Number(values.nodes), pods: Number(values.pods) };
const runs = Number(values.runs);
if ([size.nodes, size.pods, runs].some((number) => !Number.isInteger(number) || number < 1)) {
  console.error("--nodes, --pods and --runs take whole numbers, as in: --nodes 1000 --pods 10000 --runs 5");
  process.exit(2);
}

interface Sample {
  readonly readMs: number;
  readonly provenMs: number;
  readonly cpuMs: number;
  /** 1 when the reading was incomplete, so that the function would have decided again. */
  readonly disproven: number;
  readonly requests: number;
  readonly bytes: number;
}

const REGISTERED_NODES = `${REGISTERED}=true`;

const median = (numbers: readonly number[]): number => [...numbers].sort((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? 0;
const round = (value: number): number => Math.round(value * 10) / 10;

/** Measures one case in this process: changes the cluster before each reading, and reads it. */
async function measure(name: string, kubeconfig: string): Promise<void> {
  const way = CASES[name];
  if (way === undefined) throw new Error(`no case is called ${name}`);
  const { count, transport } = countingTransport(kubeconfig, (way.packed ?? true) ? {} : { "Accept-Encoding": "identity" });
  const store = embeddedNodeClaimStore();
  const begin = informer({ memory: listMemory(1_000_000), cluster: "bench", ...transport });
  const client = kubernetesClient({ kubeconfig, transport: transport.send });
  const hands = kubernetesClient({ kubeconfig });
  const forSweep = async (kubernetes: ClusterReader) => {
    const [nodes] = await Promise.all([kubernetes.list("Node", { labelSelector: REGISTERED_NODES }), kubernetes.list("NodeClaim")]);
    return { nodes, pods: [] };
  };
  const forDecision = (kubernetes: ClusterReader) =>
    readSnapshot({ kubernetes, store, cluster: "bench", now: 1, instanceTypesOf: () => [] });
  const read: (kubernetes: ClusterReader) => Promise<Pick<Snapshot, "nodes" | "pods">> = way.sweep ? forSweep : forDecision;

  global.gc?.();
  const empty = process.memoryUsage().heapUsed;
  let snapshot = way.warm ? await read(begin()) : undefined;
  const samples: Sample[] = [];
  for (let run = 0; run < (way.once ? 1 : runs); run++) {
    // In a live cluster some object always changes, if only a Lease, so that the resource version increases.
    await hands.update("Namespace", await labelled(hands, run));
    const pods = (snapshot?.pods ?? []).slice(0, way.changes ?? 0);
    await inParallel(pods.length, 8, async (index) => {
      const pod = await hands.get("Pod", pods[index]?.metadata.name ?? "", "default");
      if (pod === undefined) return;
      const kept = (pod.status?.conditions ?? []).filter(({ type }) => type !== "Bench");
      const conditions = [...kept, { type: "Bench", status: run % 2 === 0 ? ("True" as const) : ("False" as const) }];
      await hands.updateStatus("Pod", { ...pod, status: { ...pod.status, conditions } });
    });
    Object.assign(count, { requests: 0, bytes: 0 });
    const cpu = process.cpuUsage();
    const start = performance.now();
    const readings = begin();
    snapshot = await read(way.informer ? readings : client);
    const readMs = performance.now() - start;
    const disproven = await readings.prove().then(
      () => 0,
      () => 1,
    );
    const used = process.cpuUsage(cpu);
    samples.push({ readMs, provenMs: performance.now() - start, cpuMs: (used.user + used.system) / 1_000, disproven, ...count });
  }
  global.gc?.();
  const of = (pick: (sample: Sample) => number): number => round(median(samples.map(pick)));
  const line: Line = {
    ...{ case: name, nodes: snapshot?.nodes.length ?? 0, pods: snapshot?.pods.length ?? 0, runs: samples.length },
    ...{ readMs: of(({ readMs }) => readMs), provenMs: of(({ provenMs }) => provenMs), requests: of(({ requests }) => requests) },
    ...{ wireKib: of(({ bytes }) => bytes / 1_024), cpuMs: of(({ cpuMs }) => cpuMs) },
    disproven: samples.reduce((sum, { disproven }) => sum + disproven, 0),
    heapMib: round((process.memoryUsage().heapUsed - empty) / 2 ** 20),
    rssMib: round(process.resourceUsage().maxRSS / 1_024),
  };
  console.log(JSON.stringify(line));
  store.close();
}

async function labelled(hands: ReturnType<typeof kubernetesClient>, run: number) {
  const namespace = await hands.get("Namespace", "default");
  if (namespace === undefined) throw new Error("the cluster has no namespace default");
  return {
    ...namespace,
    metadata: { ...namespace.metadata, labels: { ...namespace.metadata.labels, bench: `run-${run}-${process.pid}` } },
  };
}

interface Case {
  readonly informer: boolean;
  /** Whether the cluster was read before. */
  readonly warm: boolean;
  /** Whether a process can measure the case only once, as for a first reading. */
  readonly once?: boolean;
  readonly packed?: boolean;
  /** Pods whose status changes before each reading. */
  readonly changes?: number;
  /** Whether the case reads what the sweep of lifecycle reads, and not what a decision reads. */
  readonly sweep?: boolean;
}

const CASES: Readonly<Record<string, Case>> = {
  "list, first": { informer: false, warm: false, once: true },
  "list, not packed": { informer: false, warm: false, once: true, packed: false },
  "list, every time": { informer: false, warm: true },
  "informer, first": { informer: true, warm: false, once: true },
  "nothing changed": { informer: true, warm: true },
  "10 pods changed": { informer: true, warm: true, changes: 10 },
  "1000 pods changed": { informer: true, warm: true, changes: 1_000 },
  "lifecycle sweep, list": { informer: false, warm: true, sweep: true },
  "lifecycle sweep": { informer: true, warm: true, sweep: true },
};

/** Measures each case in a new process, and prints the table. */
function measureAll(kubeconfig: string): void {
  const lines: Line[] = [];
  for (const name of Object.keys(CASES)) {
    const args = ["--expose-gc", import.meta.filename, "--only", name, "--kubeconfig", kubeconfig, "--runs", String(runs)];
    const { stdout, stderr, status } = spawnSync(process.execPath, args, { encoding: "utf8" });
    if (status !== 0) {
      console.error(`\n${name}: ${/^\w*Error: (.*)$/m.exec(stderr)?.[1] ?? "the measurement ended early"}`);
      process.exitCode = 1;
      continue;
    }
    process.stdout.write(stdout);
    lines.push(JSON.parse(stdout) as Line);
  }
  const [first] = lines;
  console.log(
    `\n${`${first?.nodes} nodes, ${first?.pods} pods`.padEnd(26)}read ms  proven ms  requests  wire KiB  cpu ms  heap MiB  peak RSS MiB`,
  );
  for (const line of lines) {
    const cells = [line.readMs, line.provenMs, line.requests, line.wireKib, line.cpuMs, line.heapMib, line.rssMib].map(Math.round);
    const widths = [9, 11, 10, 10, 8, 10, 14];
    console.log(line.case.padEnd(24) + cells.map((cell, i) => String(cell).padStart(widths[i] ?? 0)).join(""));
  }
}

/** Without kubelets no node reports its status, so the controllers that would evict its pods are off. */
const QUIET = ["--scheduler=false", "--controller-manager-arg=--controllers=serviceaccount-controller,namespace-controller"];

async function fillAndMeasure(): Promise<void> {
  const dataDir = temporaryFolder("cluster-read");
  const cluster = await startCluster({ dataDir, clusterName: "bench", args: QUIET });
  try {
    await cluster.kubectl("apply", "-f", join(projectRoot, "infra", "crds"));
    await cluster.kubectl("wait", "--for=condition=Established", "crd", "--all", "--timeout=30s");
    console.error(`filling a cluster with ${size.nodes} nodes and ${size.pods} pods`);
    await fillCluster(kubernetesClient({ kubeconfig: cluster.kubeconfig }), size);
    measureAll(cluster.kubeconfig);
  } finally {
    await cluster.stop();
    rmSync(dataDir, { recursive: true, force: true });
  }
}

if (values.only !== undefined && values.kubeconfig !== undefined) await measure(values.only, values.kubeconfig);
else if (values.kubeconfig !== undefined) measureAll(values.kubeconfig);
else await fillAndMeasure();
