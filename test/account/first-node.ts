import { execFileSync, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { makeRelease } from "../../infra/release/make-release.ts";
import { deployment } from "../e2e/arrange.ts";
import { ACCOUNT, CLUSTER, REGION, startStage } from "../e2e/stage.ts";
import { removeDir } from "../e2e/support/child.ts";
import { clusterIdentities } from "../e2e/support/deploy.ts";
import { copyTables, startDynamoDbLocal } from "../e2e/support/dynamodb-local.ts";
import { withProjectNode } from "../e2e/support/paths.ts";
import { limitPollers } from "../e2e/support/pollers.ts";
import { startAccount } from "./account.ts";
import { accountWith } from "./account-of.ts";
import { found } from "./installing.ts";

/**
 * From an empty folder with the tarball only to the first pod that runs, and out again: the program as it is installed,
 * an account model in front of MiniStack and the fake EC2, a real control plane. `node test/account/first-node.ts`.
 * Prints a line for each check and "N passed, N failed".
 */

const dir = mkdtempSync(join(tmpdir(), "first-node-"));
const typed: string[] = [];
let passed = 0;
let failed = 0;
async function check(name: string, play: () => Promise<string>): Promise<void> {
  const began = Date.now();
  try {
    const said = await play();
    passed += 1;
    console.log(
      `ok      ${name} (${((Date.now() - began) / 1_000).toFixed(1)} s)${said === "" ? "" : `\n        ${said.replaceAll("\n", "\n        ")}`}`,
    );
  } catch (error) {
    failed += 1;
    console.log(`FAILED  ${name}: ${error instanceof Error ? error.message : String(error)}`);
    throw error;
  }
}

/**
 * A call's bucket of EC2: Amazon EC2 API Reference, Request throttling for the Amazon EC2 API, Request token bucket
 * sizes.
 */
const EC2_BUCKETS = { describe: { capacity: 100, refillPerSecond: 20 }, mutate: { capacity: 50, refillPerSecond: 5 } };

const stage = await startStage({
  dataDir: dir,
  readyAfter: "1s",
  // Right after a launch EC2 does not know the instance yet (Amazon EC2 API Reference, Eventual consistency).
  aws: { bootDelayMs: 1_000, terminateDelayMs: 1_000, visibleAfterMs: 2_000, profileVisibleAfterMs: 2_000 },
});
const dynamodb = await startDynamoDbLocal({ dataDir: dir });
const account = await startAccount({
  dataDir: dir,
  settings: accountWith({
    ...{ clusters: { [CLUSTER]: "API" }, roles: ["AWSServiceRoleForEC2Spot"], accessEntries: [] },
    logGroups: { [`/aws/eks/${CLUSTER}/cluster`]: 0 },
  }),
  fake: stage.fake,
  ...{ ec2Buckets: EC2_BUCKETS, lagMs: 1_000, timeScale: 12 },
  functionsEnv: (url) => ({
    ...Object.fromEntries(["EC2", "SSM", "PRICING", "EKS", "IAM"].map((name) => [`AWS_ENDPOINT_URL_${name}`, url])),
    AWS_ENDPOINT_URL_DYNAMODB: dynamodb.url,
  }),
});
const person = {
  accessKeyId: ACCOUNT,
  secretAccessKey: "test",
  arn: `arn:aws:iam::${ACCOUNT}:user/me`,
  username: "me",
  groups: ["system:masters"],
};
const home = join(dir, "empty");
mkdirSync(home);

/** Runs what a person types in the folder; its output. Throws with it when it fails. */
async function type(command: string, asked: (line: string) => void = () => {}): Promise<string> {
  typed.push(command);
  const child = spawn("sh", ["-c", command], {
    cwd: home,
    env: {
      ...withProjectNode(),
      ...{ AWS_ENDPOINT_URL: account.url, AWS_ACCESS_KEY_ID: ACCOUNT, AWS_SECRET_ACCESS_KEY: "test", AWS_REGION: REGION },
    },
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (chunk: Buffer) => {
      output += chunk;
      for (const line of String(chunk).split("\n")) asked(line);
    });
  const code = await new Promise((resolve) => child.once("close", resolve));
  if (code !== 0) throw new Error(`${command}: exit code ${String(code)}\n${output}`);
  return output;
}

try {
  await stage.cluster.setIdentities([person]);
  const [tarball = ""] = await makeRelease(join(dir, "release"));
  // MiniStack speaks plain HTTP, which the queues of a deployment refuse.
  writeFileSync(join(home, "settings.json"), JSON.stringify({ clusters: [{ name: CLUSTER }], architecture: "x86_64", enforceTls: false }));
  await check("the tarball installs in an empty folder", () => type(`npm i --silent --no-audit --no-fund --offline ${tarball}`));
  await check("install makes everything in an account with nothing prepared", async () => {
    const text = await type(
      `npx karpenter-serverless install --cluster ${CLUSTER} --region ${REGION} --create-node-role --with-default-pool --config settings.json`,
    );
    await copyTables({ from: account.ministack, dynamodb });
    await limitPollers(account.ministack);
    await stage.cluster.setIdentities([person, ...(await clusterIdentities(account.ministack, CLUSTER))]);
    return text
      .trim()
      .split("\n")
      .filter((line) => !line.startsWith(" ") && !line.startsWith("ok "))
      .join("\n");
  });
  await check("the first pod runs", async () => {
    await stage.cluster.kubectl("create", "namespace", "shop");
    await stage.cluster.kubectl("apply", "-n", "shop", "-f", "-", { input: JSON.stringify(deployment("web", 1)) });
    await stage.cluster.kubectl("wait", "-n", "shop", "--for=condition=Available", "deployment/web", "--timeout=300s");
    return stage.cluster.kubectl("get", "pods,nodeclaims", "-n", "shop", "--no-headers");
  });
  await check("uninstall takes all of it out again", async () => {
    const text = await type(`npx karpenter-serverless uninstall --cluster ${CLUSTER} --region ${REGION} --drain`);
    return text
      .trim()
      .split("\n")
      .filter((line) => !line.startsWith(" "))
      .join("\n");
  });
  await check("nothing is left but the table, the bucket and the CRDs", async () => {
    const { tables, ...rest } = await found(account);
    const { instances, launchTemplates, instanceProfiles } = stage.fake.state;
    const objects = async (kind: string, words = ""): Promise<readonly string[]> =>
      (await stage.cluster.kubectl("get", kind, "-o", "name")).split("\n").filter((name) => name.includes(words) && name !== "");
    const looked: Readonly<Record<string, readonly unknown[]>> = {
      ...rest,
      accessEntries: account.ministack.accessEntries(),
      instances: [...instances.values()].filter(({ state }) => state !== "terminated"),
      launchTemplates: [...launchTemplates.keys()],
      instanceProfiles: [...instanceProfiles.keys()].filter((name) => !name.startsWith("KarpenterNodeInstanceProfile-")),
      nodePools: await objects("nodepools"),
      nodeClaims: await objects("nodeclaims"),
      nodeClasses: await objects("ec2nodeclasses"),
      nodes: await objects("nodes"),
      webhooks: await objects("validatingwebhookconfigurations,mutatingwebhookconfigurations", "karpenter-serverless"),
      clusterRoles: await objects("clusterroles,clusterrolebindings", "karpenter-serverless"),
      roles: await objects("roles,rolebindings", "karpenter-serverless"),
      flowSchemas: await objects("flowschemas", "karpenter-serverless"),
    };
    const left = Object.entries(looked).filter(([, names]) => names.length > 0);
    if (left.length > 0) throw new Error(`left: ${JSON.stringify(Object.fromEntries(left)).slice(0, 2_000)}`);
    return `looked for ${Object.keys(looked).join(", ")}; stays: ${tables.length} table`;
  });
  await check("every call has the form that AWS's own service models describe, those of the functions too", async () => {
    if (account.shapeFaults.length > 0) throw new Error(account.shapeFaults.join("\n"));
    return `${account.calls.length} calls: ${[...new Set(account.calls)].sort().join(", ")}`;
  });
  console.log(`typed:\n${typed.map((command) => `  ${command}`).join("\n")}`);
} catch (error) {
  console.log(`the rest is not played: ${error instanceof Error ? error.message.slice(0, 300) : String(error)}`);
  console.log(execFileSync("tail", ["-n", "30", join(dir, "ministack.log")], { encoding: "utf8" }));
} finally {
  await Promise.allSettled([account.stop(), dynamodb.stop(), stage.stop()]);
  removeDir(dir);
}
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;
