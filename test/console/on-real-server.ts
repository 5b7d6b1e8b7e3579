import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromium } from "playwright-core";
import { removeDir } from "../e2e/support/child.ts";
import { startCluster, type TestCluster } from "../e2e/support/cluster.ts";
import { wholeLines } from "../e2e/support/growing-log.ts";
import { projectRoot } from "../e2e/support/paths.ts";
import { BROWSER, FLAGS, pictureOf } from "./browser.ts";

/**
 * The page of a live cluster (test/e2e/cluster, a real control plane) in a real browser: pods and nodes come and go,
 * and the page shows it without being loaded again. The API server's audit log shows that the command only reads.
 * `--pictures FOLDER` also writes a picture. Needs chromium and Go.
 */
const folder = mkdtempSync(join(tmpdir(), "view-real-"));

const REF = { group: "karpenter.k8s.aws", kind: "EC2NodeClass", name: "default" };
const POOL = {
  apiVersion: "karpenter.sh/v1",
  kind: "NodePool",
  metadata: { name: "default" },
  spec: {
    template: {
      spec: {
        requirements: [{ key: "karpenter.sh/capacity-type", operator: "In", values: ["on-demand"] }],
        nodeClassRef: REF,
      },
    },
    limits: { cpu: "100" },
    disruption: { consolidationPolicy: "WhenEmptyOrUnderutilized", consolidateAfter: "1m", budgets: [{ nodes: "20%" }] },
  },
};
const CLASS = {
  apiVersion: "karpenter.k8s.aws/v1",
  kind: "EC2NodeClass",
  metadata: { name: "default" },
  spec: {
    role: "node",
    amiSelectorTerms: [{ alias: "al2023@latest" }],
    subnetSelectorTerms: [{ tags: { "karpenter.sh/discovery": "c1" } }],
    securityGroupSelectorTerms: [{ tags: { "karpenter.sh/discovery": "c1" } }],
  },
};
const CLASS_STATUS = {
  subnets: [{ id: "subnet-a", zone: "us-west-2a", zoneID: "usw2-az1" }],
  securityGroups: [{ id: "sg-1", name: "nodes" }],
  amis: [{ id: "ami-1", name: "al2023", requirements: [{ key: "kubernetes.io/arch", operator: "In", values: ["amd64"] }] }],
  conditions: [{ type: "Ready", status: "True", reason: "Ready", message: "", lastTransitionTime: "2026-01-01T00:00:00Z" }],
};

/** An m5.xlarge as the functions would have launched it. */
async function addMachine(name: string, { kubectl, control }: TestCluster): Promise<void> {
  const labels = {
    "karpenter.sh/nodepool": "default",
    "karpenter.k8s.aws/ec2nodeclass": "default",
    "karpenter.sh/capacity-type": "on-demand",
    "karpenter.sh/registered": "true",
    "karpenter.sh/initialized": "true",
    "node.kubernetes.io/instance-type": "m5.xlarge",
    "topology.kubernetes.io/zone": "us-west-2a",
    "topology.kubernetes.io/region": "us-west-2",
    "kubernetes.io/arch": "amd64",
    "kubernetes.io/os": "linux",
  };
  const providerID = `aws:///us-west-2a/i-${name}`;
  const capacity = { cpu: "4", memory: "15Gi", pods: "58", "ephemeral-storage": "20Gi" };
  const body = { metadata: { name, labels }, spec: { providerID }, status: { capacity, allocatable: capacity } };
  const joined = await fetch(`${control}/join`, { method: "POST", body: JSON.stringify(body) });
  assert.ok(joined.ok, await joined.text());
  const claim = {
    apiVersion: "karpenter.sh/v1",
    kind: "NodeClaim",
    metadata: { name: `default-${name}`, labels },
    spec: { requirements: [], nodeClassRef: REF },
  };
  await kubectl("create", "-f", "-", { input: JSON.stringify(claim) });
  const conditions = ["Launched", "Registered", "Initialized"].map((type) => ({
    ...{ type, status: "True", reason: type, message: "" },
    lastTransitionTime: new Date().toISOString(),
  }));
  await patchStatus("nodeclaim", `default-${name}`, { providerID, nodeName: name, capacity, allocatable: capacity, conditions }, kubectl);
}

async function patchStatus(kind: string, name: string, status: object, kubectl: TestCluster["kubectl"]): Promise<void> {
  await kubectl("patch", kind, name, "--subresource=status", "--type=merge", "-p", JSON.stringify({ status }));
}

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

async function check(cluster: TestCluster): Promise<void> {
  const { kubectl, kubeconfig, auditLog } = cluster;
  await kubectl("apply", "-f", join(projectRoot, "infra", "crds"));
  await kubectl("wait", "--for=condition=Established", "crd", "--all", "--timeout=300s");
  for (const object of [POOL, CLASS, deployment("web", 6, "1")]) await kubectl("create", "-f", "-", { input: JSON.stringify(object) });
  await patchStatus("ec2nodeclass", "default", CLASS_STATUS, kubectl);
  for (const name of ["ip-10-0-1-1", "ip-10-0-1-2"]) await addMachine(name, cluster);
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
    // What a reader has typed outlives every change: the page is not loaded again.
    await page.evaluate("globalThis.isTheSamePage = true");

    // A pod that no node can take: the reason, and how near.
    await kubectl("create", "-f", "-", { input: JSON.stringify(deployment("huge", 1, "500")) });
    let began = performance.now();
    await page
      .locator(".box.waiting.left")
      .getByText(/NodePool default: its limit cpu 100 leaves 92/)
      .waitFor({ timeout: 60_000 });
    console.log(`a pod without a place is shown ${Math.round(performance.now() - began)} ms after it was created`);
    await kubectl("delete", "deployment", "huge");
    await page.locator(".box.waiting.left").waitFor({ state: "detached", timeout: 60_000 });

    // Pods that need a node, then the node.
    await kubectl("scale", "deployment/web", "--replicas=9");
    await page.locator(".box.waiting.planned").waitFor({ timeout: 60_000 });
    await pictureOf(page, "live");
    began = performance.now();
    await addMachine("ip-10-0-1-3", cluster);
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
    assert.equal(await page.evaluate("globalThis.isTheSamePage"), true);
  } finally {
    await browser.close();
  }
  const calls = wholeLines(auditLog)
    .filter((line) => line.includes("karpenter-serverless"))
    .map((line) => JSON.parse(line) as { readonly verb: string; readonly userAgent?: string; readonly requestURI: string })
    .filter(({ userAgent }) => userAgent === "karpenter-serverless");
  const verbs = Object.entries(Object.groupBy(calls, ({ verb }) => verb)).map(([verb, list]) => `${verb} ${list?.length}`);
  console.log(`the API server's audit log of view: ${verbs.join(", ")}`);
  assert.ok(calls.length > 20);
  assert.deepEqual(
    [...new Set(calls.map(({ verb }) => verb))].filter((verb) => verb !== "list" && verb !== "get"),
    [],
  );
  assert.deepEqual(
    calls.filter(({ requestURI }) => /secrets|configmaps/.test(requestURI)),
    [],
  );
}

const policy = join(folder, "policy.yaml");
writeFileSync(policy, "apiVersion: audit.k8s.io/v1\nkind: Policy\nrules: [{level: Metadata}]\n");
const cluster = await startCluster({ dataDir: join(folder, "data"), clusterName: "c1", args: [`--audit-policy=${policy}`] });
try {
  await check(cluster);
  console.log("1 passed, 0 failed");
} finally {
  command?.kill("SIGINT");
  await cluster.stop();
  removeDir(folder);
}
