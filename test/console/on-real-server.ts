import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromium } from "playwright-core";
import { SCHEMAS } from "../cli/json-schemas/schemas.ts";
import { removeDir } from "../e2e/support/child.ts";
import type { TestCluster } from "../e2e/support/cluster.ts";
import { projectRoot } from "../e2e/support/paths.ts";
import {
  addMachine,
  create,
  expectOnlyReads,
  NODE_CLASS_REF,
  nodeClass,
  prepare,
  startWatchedCluster,
} from "../e2e/support/watched-cluster.ts";
import { BROWSER, FLAGS, pictureOf } from "./browser.ts";

/**
 * The page of a live cluster (test/e2e/cluster, a real control plane) in a real browser: pods and nodes come and go,
 * and the page shows it without being loaded again. The API server's audit log shows that the command only reads.
 * `--pictures FOLDER` also writes a picture. Needs chromium and Go.
 */
const folder = mkdtempSync(join(tmpdir(), "view-real-"));

const POOL = {
  apiVersion: "karpenter.sh/v1",
  kind: "NodePool",
  metadata: { name: "default" },
  spec: {
    template: {
      spec: {
        requirements: [{ key: "karpenter.sh/capacity-type", operator: "In", values: ["on-demand"] }],
        nodeClassRef: NODE_CLASS_REF,
      },
    },
    limits: { cpu: "100" },
    disruption: { consolidationPolicy: "WhenEmptyOrUnderutilized", consolidateAfter: "1m", budgets: [{ nodes: "20%" }] },
  },
};
const M5_XLARGE = { instanceType: "m5.xlarge", cpu: "4", memory: "15Gi" };
const addNode = (name: string, cluster: TestCluster): Promise<void> => addMachine(name, M5_XLARGE, cluster, new Date().toISOString());

const deployment = (name: string, replicas: number, cpu: string): object => ({
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { name },
  spec: {
    replicas,
    selector: { matchLabels: { app: name } },
    template: {
      metadata: { labels: { app: name } },
      spec: { containers: [{ name: "c", image: "web", resources: { requests: { cpu, memory: "1Gi" } } }] },
    },
  },
});

let command: ChildProcess | undefined;

async function served(...args: readonly string[]): Promise<string> {
  const child = spawn(process.execPath, ["--disable-warning=ExperimentalWarning", "cli/main.ts", ...args], {
    cwd: projectRoot,
    stdio: ["ignore", "pipe", "inherit"],
  });
  command = child;
  return await new Promise((resolve, reject) => {
    child.stdout?.on("data", (part: Buffer) => {
      const [, url] = /The page: (\S+)/.exec(part.toString()) ?? [];
      if (url !== undefined) resolve(url);
    });
    child.once("exit", (code) => reject(new Error(`view ended with ${code}`)));
  });
}

/** Reads what the page reads, and holds it to the documented schemas: each field of them and no other. */
async function expectSchemas(url: string, fewestPods: number): Promise<void> {
  const read = async (path: string): Promise<unknown> => (await fetch(`${url}data/${path}`)).json();
  const index = SCHEMAS["view-index"].shape.parse(await read("index.json"));
  assert.equal(index.kind, "live");
  assert.equal(index.scenes.length, 1);
  for (const { id } of index.scenes) {
    const { nodes, nodePools } = SCHEMAS["view-overview"].shape.parse(await read(`scenes/${id}/overview.json`));
    assert.ok(nodes.length > 0 && nodePools.length > 0);
    const pods = SCHEMAS["view-pods"].shape.parse(await read(`scenes/${id}/pods.json`));
    assert.ok(pods.every(({ name }) => name !== "") && pods.length >= fewestPods);
  }
}

async function check(cluster: TestCluster): Promise<void> {
  const { kubectl, kubeconfig } = cluster;
  await prepare(cluster, [POOL, nodeClass(), deployment("web", 6, "1")], ["a"]);
  for (const name of ["ip-10-0-1-1", "ip-10-0-1-2"]) await addNode(name, cluster);
  await kubectl("rollout", "status", "deployment/web", "--timeout=300s");

  const url = await served("view", "--kubeconfig", kubeconfig, "--every", "1");
  const browser = await chromium.launch({ executablePath: BROWSER, args: [...FLAGS] });
  try {
    const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
    await page.goto(url);
    const rows = page.locator(".grid-row");
    await page.getByText("live, ").waitFor();
    await rows.nth(1).waitFor({ timeout: 60_000 });
    assert.equal(await rows.count(), 2);
    await expectSchemas(url, 6);
    // What a reader has typed outlives every change: the page is not loaded again.
    await page.evaluate("globalThis.isTheSamePage = true");

    // Beside a Karpenter that runs, the page says whose decisions these are not.
    const lease = {
      apiVersion: "coordination.k8s.io/v1",
      kind: "Lease",
      metadata: { name: "karpenter-leader-election", namespace: "kube-system" },
    };
    await create(cluster, { ...lease, spec: { holderIdentity: "k-1", renewTime: new Date().toISOString().replace("Z", "000Z") } });
    await page.getByText(/^Karpenter itself runs in this cluster/).waitFor({ timeout: 60_000 });
    await kubectl("delete", "lease", "karpenter-leader-election", "-n", "kube-system");
    await page.getByText(/^Karpenter itself runs/).waitFor({ state: "detached", timeout: 90_000 });

    // A pod that no node can take: the reason, and how near.
    await create(cluster, deployment("huge", 1, "500"));
    let began = performance.now();
    await page
      .locator(".box.waiting.left")
      .getByText(/NodePool default: its limit cpu 100 leaves 92/)
      .waitFor({ timeout: 60_000 });
    console.log(`a pod without a place is shown ${Math.round(performance.now() - began)} ms after it was created`);
    await expectSchemas(url, 7);
    await kubectl("delete", "deployment", "huge");
    await page.locator(".box.waiting.left").waitFor({ state: "detached", timeout: 60_000 });

    // Pods that need a node, then the node.
    await kubectl("scale", "deployment/web", "--replicas=9");
    await page.locator(".box.waiting.planned").waitFor({ timeout: 60_000 });
    await pictureOf(page, "live");
    await expectSchemas(url, 9);
    began = performance.now();
    await addNode("ip-10-0-1-3", cluster);
    await rows.nth(2).waitFor({ timeout: 60_000 });
    console.log(`a node is shown ${Math.round(performance.now() - began)} ms after it began to join`);
    await page.locator(".box.waiting").waitFor({ state: "detached", timeout: 60_000 });

    await page.goto(`${url}#cost`);
    await page.getByRole("img", { name: /^Cost from/ }).waitFor();
    await page.goto(`${url}#nodes`);
    await kubectl("scale", "deployment/web", "--replicas=0");
    await page
      .getByText(/^goes$/)
      .first()
      .waitFor({ timeout: 90_000 });
    await expectSchemas(url, 0);
    assert.equal(await page.evaluate("globalThis.isTheSamePage"), true);
  } finally {
    await browser.close();
  }
  await expectOnlyReads(cluster, "view");
}

const cluster = await startWatchedCluster(folder);
try {
  await check(cluster);
  console.log("1 passed, 0 failed");
} finally {
  command?.kill("SIGINT");
  await cluster.stop();
  removeDir(folder);
}
