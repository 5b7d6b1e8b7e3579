import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { removeDir } from "../../e2e/support/child.ts";
import type { TestCluster } from "../../e2e/support/cluster.ts";
import { projectRoot } from "../../e2e/support/paths.ts";
import { eventually } from "../../e2e/support/wait.ts";
import { addMachine, expectOnlyReads, NODE_CLASS_REF, nodeClass, prepare, startWatchedCluster } from "../../e2e/support/watched-cluster.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

/**
 * Runs `what-if` and `observe` against a real API server (test/e2e/cluster). Checks their answers, the files that they
 * write and, by the audit log of the server, that they only read. Prints what a user sees. Exit code 1 when a check
 * fails.
 */
const folder = temporaryFolder("what-if-real");
const run = promisify(execFile);

async function cli(...args: readonly string[]): Promise<string> {
  const { stdout } = await run(process.execPath, [join(projectRoot, "cli", "main.ts"), ...args]);
  return stdout;
}

const whatIf = (...args: readonly string[]): Promise<string> => cli("what-if", ...args);

const POOL = {
  apiVersion: "karpenter.sh/v1",
  kind: "NodePool",
  metadata: { name: "default" },
  spec: {
    template: {
      spec: {
        requirements: [
          { key: "karpenter.sh/capacity-type", operator: "In", values: ["on-demand"] },
          { key: "kubernetes.io/arch", operator: "In", values: ["amd64"] },
        ],
        nodeClassRef: NODE_CLASS_REF,
      },
    },
    disruption: { consolidationPolicy: "WhenEmptyOrUnderutilized", consolidateAfter: "1m", budgets: [{ nodes: "100%" }] },
  },
};
const CLASS = nodeClass({ userData: "#!/bin/sh\necho secret-user-data\n" });
const M5_2XLARGE = { instanceType: "m5.2xlarge", cpu: "8", memory: "31Gi" };

const WEB = {
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { name: "web" },
  spec: {
    replicas: 3,
    selector: { matchLabels: { app: "web" } },
    template: {
      metadata: { labels: { app: "web" } },
      spec: {
        containers: [
          {
            name: "c",
            image: "private.example/web",
            env: [{ name: "PASSWORD", value: "secret-password" }],
            resources: { requests: { cpu: "1", memory: "3Gi" } },
          },
        ],
        topologySpreadConstraints: [
          {
            maxSkew: 1,
            topologyKey: "kubernetes.io/hostname",
            whenUnsatisfiable: "ScheduleAnyway",
            labelSelector: { matchLabels: { app: "web" } },
          },
        ],
      },
    },
  },
};

async function check(cluster: TestCluster): Promise<void> {
  const { kubectl, kubeconfig } = cluster;
  await prepare(cluster, [POOL, CLASS, WEB], ["a", "b"]);
  for (const name of ["n1", "n2", "n3"]) await addMachine(name, M5_2XLARGE, cluster, "2026-01-01T00:00:00Z");
  await kubectl("rollout", "status", "deployment/web", "--timeout=300s");

  const live = ["--kubeconfig", kubeconfig];
  const text = await whatIf(...live, "--family", "m6a", "--budget", "default=1");
  console.log(text);
  assert.match(text, /: 3 nodes, \$1\.1520\/h/);
  assert.match(text, /default +m5\.2xlarge +on-demand +3 +1\.152/);
  assert.match(text, /RequirementsDrifted: 3 nodes: n1, n2 and n3/);
  assert.match(text, /default +m6a\.\w+ +on-demand +- +- /);

  const saved = join(folder, "snapshot.json.gz");
  console.log(await whatIf(...live, "--save", saved));
  const bill = async (...args: readonly string[]) => {
    const { today, leftAlone, changed } = JSON.parse(await whatIf(...args, "--format", "json"));
    return [today, leftAlone.bill.rows, changed.bill.rows];
  };
  const wish = ["--set", "nodepool/default.spec.template.spec.taints=[{key: dedicated, effect: NoSchedule}]"];
  assert.deepEqual(await bill(saved, ...wish), await bill(...live, ...wish));
  const { stdout: content } = await run("gzip", ["-dc", saved], { maxBuffer: 2 ** 30 });
  assert.doesNotMatch(content, /secret-|private\.example/);

  await observe(cluster);
  await expectOnlyReads(cluster, "what-if and observe");
}

/** Records the cluster while a Deployment grows, and replays it. */
async function observe({ kubectl, kubeconfig }: TestCluster): Promise<void> {
  const trace = join(folder, "c1.trace.gz");
  const recording = cli("observe", "--kubeconfig", kubeconfig, "--region", "us-west-2", "--record", trace, "--every", "2s", "--for", "20s");
  await eventually("the first look is written", () => existsSync(trace));
  await kubectl("scale", "deployment/web", "--replicas=4");
  console.log(await recording);
  const { header, observed, replayed } = JSON.parse(await cli("observe", "--replay", trace, "--format", "json"));
  console.log(await cli("observe", "--replay", trace));
  assert.deepEqual([header.autoscaler, header.unread], ["Karpenter", []]);
  assert.equal(observed.machines.most, 3);
  assert.deepEqual([observed.waits.pods, observed.moves, replayed.waits.pods], [1, 0, 1]);
  const { stdout: content } = await run("gzip", ["-dc", trace], { maxBuffer: 2 ** 30 });
  assert.doesNotMatch(content, /secret-|private\.example/);
}

const cluster = await startWatchedCluster(folder);
try {
  await check(cluster);
  console.log("all is as it should be");
} finally {
  await cluster.stop();
  removeDir(folder);
}
