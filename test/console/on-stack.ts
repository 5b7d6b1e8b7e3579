import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Code } from "aws-cdk-lib/aws-lambda";
import { chromium, type Locator } from "playwright-core";
import { dynamoNodeClaimStore } from "#adapters/store/dynamodb-store.ts";
import type { HistoryEntry } from "#core/model/history-entry.ts";
import { makeApp } from "#infra/app.ts";
import { parseSettings } from "#infra/settings.ts";
import { removeDir } from "../e2e/support/child.ts";
import { startCluster, type TestCluster } from "../e2e/support/cluster.ts";
import { deployTemplate, readSynthesized } from "../e2e/support/deploy.ts";
import { type MiniStack, startMiniStack } from "../e2e/support/ministack.ts";
import { projectRoot } from "../e2e/support/paths.ts";
import { addMachine, type Machine, NODE_CLASS_REF, nodeClass, prepare } from "../e2e/support/watched-cluster.ts";
import { record } from "../support/builders.ts";
import { BROWSER, FLAGS, pictureOf } from "./browser.ts";

/**
 * `view --stack` on MiniStack: the product's own stack with two clusters, each a real control plane that takes EKS
 * tokens, and with a history of its own in the stack's table: `node test/console/on-stack.ts`. Checks that the page has
 * each cluster's figures and history apart, and their sum; that a third cluster, which does not answer, is named with
 * why; and that the command only reads. Needs chromium, Go and Python.
 */
const STACK = "karpenter-serverless";
const REGION = "us-west-2";
const ACCOUNT = "111122223333";
const CALLER = { accessKeyId: "ASIAREADER0000000000", secretAccessKey: "reader" };
const HOUR_MS = 3_600_000;
const folder = mkdtempSync(join(tmpdir(), "view-stack-"));

const POOL = {
  apiVersion: "karpenter.sh/v1",
  kind: "NodePool",
  metadata: { name: "default" },
  spec: { template: { spec: { requirements: [], nodeClassRef: NODE_CLASS_REF } }, limits: { cpu: "100" } },
};
const XLARGE: Machine = { instanceType: "m5.xlarge", cpu: "4", memory: "15Gi" };
const LARGE: Machine = { instanceType: "m5.large", cpu: "2", memory: "7Gi" };

/** A control plane with so many machines, which takes the caller's tokens. */
async function clusterOf(name: string, machines: readonly Machine[]): Promise<TestCluster> {
  const cluster = await startCluster({ dataDir: join(folder, name), clusterName: name });
  await prepare(cluster, [POOL, nodeClass()], ["a"]);
  for (const [i, machine] of machines.entries()) await addMachine(`${name}-${i}`, machine, cluster, new Date().toISOString());
  await cluster.setIdentities([
    { ...CALLER, arn: `arn:aws:sts::${ACCOUNT}:assumed-role/reader/me`, username: "reader", groups: ["system:masters"] },
  ]);
  return cluster;
}

/** DescribeCluster of EKS for these clusters; one without a control plane has an address where nothing listens. */
async function startEks(clusters: Readonly<Record<string, TestCluster | undefined>>): Promise<Server> {
  const server = createServer((request, response) => {
    const name = /^\/clusters\/([^/?]+)/.exec(request.url ?? "")?.[1] ?? "";
    const { server: endpoint = "https://127.0.0.1:9", caData = "" } = clusters[name] ?? {};
    const found = {
      ...{ name, arn: `arn:aws:eks:${REGION}:${ACCOUNT}:cluster/${name}`, status: "ACTIVE", version: "1.36", endpoint },
      ...{ certificateAuthority: { data: caData }, kubernetesNetworkConfig: { serviceIpv4Cidr: "10.96.0.0/16", ipFamily: "ipv4" } },
    };
    response.writeHead(Object.hasOwn(clusters, name) ? 200 : 404, { "content-type": "application/json" });
    response.end(JSON.stringify(Object.hasOwn(clusters, name) ? { cluster: found } : { message: `No cluster found for name: ${name}.` }));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return server;
}

/** Deploys the product's stack for these clusters, with functions that do nothing; returns the name of its table. */
async function deployed(ministack: MiniStack, clusters: readonly string[]): Promise<string> {
  const code = join(folder, "code");
  mkdirSync(code);
  writeFileSync(join(code, "index.mjs"), "export const handler = async () => ({ batchItemFailures: [] });\n");
  const settings = parseSettings(
    { stackName: STACK, clusters: clusters.map((name) => ({ name, sources: ["sweep"] })), architecture: "x86_64", ephemeral: true },
    "the view of a stack",
  );
  const outDir = join(folder, "cdk.out");
  makeApp({ settings, outDir, code: () => Code.fromAsset(code) }).app.synth();
  const { template, assets } = readSynthesized(outDir, STACK, ministack);
  const outputs = await deployTemplate({ target: ministack, stackName: STACK, template, assets });
  return outputs["TableName"] ?? "";
}

/** A spot machine of a cluster that ran for some hours, and was interrupted an hour ago. */
async function told(table: string, cluster: string, nodeClaim: string, hours: number): Promise<void> {
  const store = dynamoNodeClaimStore({ tableName: table });
  const at = Date.now() - HOUR_MS;
  const about = { cluster, nodeClaim, intent: "00000001", nodePool: "default" };
  const machine = { instanceId: `i-${nodeClaim}`, instanceType: "m5.large", zone: "us-west-2a", capacityType: "spot" };
  const entries: readonly HistoryEntry[] = [
    { type: "Terminating", ...about, at: at - 60_000, reason: "spot_interrupted" },
    {
      ...{ type: "Removed", ...about, at, reason: "spot_interrupted", terminatingAt: at - 60_000, launchedAt: at - hours * HOUR_MS },
      machine: { ...machine, pricePerHour: 0.04, onDemandPerHour: 0.096 },
    },
  ];
  await store.remove(await store.create(record({ cluster, name: nodeClaim })), entries);
}

const children: ChildProcess[] = [];

async function served(env: Readonly<Record<string, string>>, ...args: readonly string[]): Promise<string> {
  const child = spawn(process.execPath, ["--disable-warning=ExperimentalWarning", "cli/main.ts", ...args], {
    cwd: projectRoot,
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", "inherit"],
  });
  children.push(child);
  return await new Promise((resolve, reject) => {
    child.stdout?.on("data", (part: Buffer) => {
      const [, url] = /The page: (\S+)/.exec(part.toString()) ?? [];
      if (url !== undefined) resolve(url);
    });
    child.once("exit", (status) => reject(new Error(`view ended with ${status}`)));
  });
}

async function check(ministack: MiniStack, eks: Server): Promise<void> {
  const table = await deployed(ministack, ["alpha", "beta", "gamma"]);
  const env = {
    AWS_ENDPOINT_URL: ministack.url,
    AWS_ENDPOINT_URL_EKS: `http://127.0.0.1:${(eks.address() as AddressInfo).port}`,
    AWS_REGION: REGION,
    AWS_ACCESS_KEY_ID: CALLER.accessKeyId,
    AWS_SECRET_ACCESS_KEY: CALLER.secretAccessKey,
  };
  Object.assign(process.env, env, { AWS_ACCESS_KEY_ID: ACCOUNT, AWS_SECRET_ACCESS_KEY: "test" });
  await told(table, "alpha", "default-spot-a", 10);
  await told(table, "beta", "default-spot-b", 2);

  const url = await served(env, "view", "--stack", STACK, "--region", REGION, "--every", "1");
  const browser = await chromium.launch({ executablePath: BROWSER, args: [...FLAGS] });
  try {
    const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
    await page.goto(`${url}#clusters`);
    const rows = page.getByRole("table", { name: "3 clusters" }).getByRole("row");
    const row = (name: string): Locator => rows.filter({ has: page.getByRole("rowheader", { name, exact: true }) });
    // m5.xlarge is $0.192 an hour, m5.large $0.096; spot ran 10 and 2 hours for $0.04.
    await row("alpha").getByRole("cell", { name: "$0.3840" }).first().waitFor({ timeout: 60_000 });
    await row("alpha").getByRole("cell", { name: "$0.4000" }).waitFor();
    await row("beta").getByRole("cell", { name: "$0.0960" }).first().waitFor();
    await row("beta").getByRole("cell", { name: "$0.0800" }).waitFor();
    await row("all").getByRole("cell", { name: "$0.4800" }).last().waitFor();
    await rows
      .filter({ hasText: "gamma" })
      .getByText(/refuses the connection|cannot be read/)
      .waitFor();
    await pictureOf(page, "clusters");

    await row("beta").getByRole("button", { name: "beta" }).click();
    await page.locator(".grid-row").first().waitFor();
    assert.equal(await page.locator(".grid-row").count(), 1);
    await page.getByRole("link", { name: /^History/ }).click();
    const events = page.getByRole("list", { name: "Events" });
    await events.getByText("nodeclaim/default-spot-b").first().waitFor();
    assert.equal(await events.getByText("default-spot-a").count(), 0);
  } finally {
    await browser.close();
  }
}

const began = performance.now();
const stops: (() => unknown)[] = [() => removeDir(folder)];
try {
  const ministack = await startMiniStack({ dataDir: folder, region: REGION, accountId: ACCOUNT, enforceIam: false });
  stops.push(() => ministack.stop());
  const alpha = await clusterOf("alpha", [XLARGE, XLARGE]);
  stops.push(() => alpha.stop());
  const beta = await clusterOf("beta", [LARGE]);
  stops.push(() => beta.stop());
  const eks = await startEks({ alpha, beta, gamma: undefined });
  stops.push(() => eks.close());
  await check(ministack, eks);
  console.log(`1 passed, 0 failed in ${((performance.now() - began) / 1_000).toFixed(0)} s`);
} finally {
  for (const child of children) child.kill("SIGINT");
  for (const stop of stops.toReversed()) await stop();
}
