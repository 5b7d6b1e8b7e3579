import { execFileSync, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { ACCOUNT, CLUSTER, REGION, type Stage, startStage } from "../e2e/stage.ts";
import { removeDir } from "../e2e/support/child.ts";
import { clusterIdentities } from "../e2e/support/deploy.ts";
import { copyTables, startDynamoDbLocal } from "../e2e/support/dynamodb-local.ts";
import { withProjectNode } from "../e2e/support/paths.ts";
import { limitPollers } from "../e2e/support/pollers.ts";
import { type Account, startAccount } from "./account.ts";
import { accountWith } from "./account-of.ts";
import { found } from "./installing.ts";
import { type PublicUrls, startPublicUrls } from "./public-urls.ts";

// A person with an empty folder, an account model in which nothing is prepared, and a real control plane.

export interface Newcomer {
  readonly stage: Stage;
  readonly account: Account;
  readonly urls: PublicUrls;
  /** For releases. */
  readonly dir: string;
  /** The person's folder. */
  readonly home: string;
  /** Plays a check, and prints its line with what it says; throws when it fails. */
  readonly check: (name: string, play: () => Promise<string>) => Promise<void>;
  /** Runs what a person types in the folder; its output. Throws with it when it fails. */
  readonly type: (command: string) => Promise<string>;
}

/**
 * A call's bucket of EC2: Amazon EC2 API Reference, Request throttling for the Amazon EC2 API, Request token bucket
 * sizes.
 */
const EC2_BUCKETS = { describe: { capacity: 100, refillPerSecond: 20 }, mutate: { capacity: 50, refillPerSecond: 5 } };
const FOLLOW_MS = 500;
const PERSON = {
  accessKeyId: ACCOUNT,
  secretAccessKey: "test",
  arn: `arn:aws:iam::${ACCOUNT}:user/me`,
  username: "me",
  groups: ["system:masters"],
};

/**
 * Plays what a newcomer does, prints what was typed and "N passed, N failed", and sets the exit code. Schedules run
 * `timeScale` times as fast. The account has the clusters `others`, too.
 */
export async function asNewcomer(
  name: string,
  timeScale: number,
  play: (newcomer: Newcomer) => Promise<void>,
  others: readonly string[] = [],
): Promise<void> {
  const names = [CLUSTER, ...others];
  const dir = mkdtempSync(join(tmpdir(), `${name}-`));
  const typed: string[] = [];
  let passed = 0;
  let failed = 0;
  const check: Newcomer["check"] = async (what, playIt) => {
    const began = Date.now();
    const seconds = (): string => ((Date.now() - began) / 1_000).toFixed(1);
    try {
      const said = (await playIt()).trim();
      passed += 1;
      console.log(`ok      ${what} (${seconds()} s)${said === "" ? "" : `\n        ${said.replaceAll("\n", "\n        ")}`}`);
    } catch (error) {
      failed += 1;
      console.log(`FAILED  ${what}: ${error instanceof Error ? error.message : String(error)}`);
      throw error;
    }
  };
  const urls = await startPublicUrls(dir, REGION);
  const stage = await startStage({
    dataDir: dir,
    ...{ readyAfter: "1s", others },
    // Right after a launch EC2 does not know the instance yet (Amazon EC2 API Reference, Eventual consistency).
    aws: {
      bootDelayMs: 1_000,
      terminateDelayMs: 1_000,
      visibleAfterMs: 2_000,
      profileVisibleAfterMs: 2_000,
      ...{ instanceProfiles: {}, roles: names.map((one) => `KarpenterNodeRole-${one}`) },
    },
    clusterEnv: urls.env,
  });
  const dynamodb = await startDynamoDbLocal({ dataDir: dir });
  const account = await startAccount({
    dataDir: dir,
    settings: accountWith({
      ...{ clusters: Object.fromEntries(names.map((one) => [one, "API"])), roles: ["AWSServiceRoleForEC2Spot"], accessEntries: [] },
      logGroups: Object.fromEntries(names.map((one) => [`/aws/eks/${one}/cluster`, 0])),
    }),
    ...{ fake: stage.fake, itemsUrl: dynamodb.url },
    ...{ ec2Buckets: EC2_BUCKETS, lagMs: 1_000, timeScale },
    functionsEnv: (url) => ({
      ...Object.fromEntries(["EC2", "SSM", "PRICING", "EKS", "IAM", "STS"].map((service) => [`AWS_ENDPOINT_URL_${service}`, url])),
      AWS_ENDPOINT_URL_DYNAMODB: dynamodb.url,
    }),
  });
  urls.target = account.ministack.url;
  const home = join(dir, "empty");
  mkdirSync(home);
  // MiniStack speaks plain HTTP, which the queues of a deployment refuse.
  writeFileSync(join(home, "settings.json"), JSON.stringify({ clusters: [{ name: CLUSTER }], architecture: "x86_64", enforceTls: false }));
  const clusters = [stage.cluster, ...stage.others];
  for (const cluster of clusters) await cluster.setIdentities([PERSON]);

  /** What EKS and DynamoDB do when the stack is there: let the functions in, and have its table. */
  let isOver = false;
  const following = (async () => {
    for (let known = ""; !isOver; await sleep(FOLLOW_MS)) {
      const identities = await Promise.all(
        clusters.map(({ clusterName }) => clusterIdentities(account.ministack, clusterName).catch(() => [])),
      );
      await copyTables({ from: account.ministack, dynamodb }).catch(() => {});
      const keys = identities.map((some) => some.map(({ accessKeyId }) => accessKeyId).join()).join(" ");
      if (keys === known) continue;
      known = keys;
      // A cluster that is deleted takes nobody in.
      for (const [i, cluster] of clusters.entries()) await cluster.setIdentities([PERSON, ...(identities[i] ?? [])]).catch(() => {});
      await limitPollers(account.ministack).catch(() => {});
    }
  })();

  const type: Newcomer["type"] = async (command) => {
    typed.push(command);
    const child = spawn("sh", ["-c", command], {
      cwd: home,
      env: {
        ...withProjectNode(),
        ...{ ...urls.env, AWS_ENDPOINT_URL: account.url, AWS_ACCESS_KEY_ID: ACCOUNT, AWS_SECRET_ACCESS_KEY: "test", AWS_REGION: REGION },
      },
    });
    let output = "";
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk: Buffer) => (output += chunk));
    const code = await new Promise((resolve) => child.once("close", resolve));
    if (code !== 0) throw new Error(`${command}: exit code ${String(code)}\n${output}`);
    return output;
  };

  try {
    await play({ stage, account, urls, dir, home, check, type });
    console.log(`typed:\n${typed.map((command) => `  ${command}`).join("\n")}`);
  } catch (error) {
    console.log(`the rest is not played: ${error instanceof Error ? error.message.slice(0, 300) : String(error)}`);
    console.log(execFileSync("tail", ["-n", "30", join(dir, "ministack.log")], { encoding: "utf8" }));
  } finally {
    isOver = true;
    await Promise.allSettled([following, account.stop(), dynamodb.stop(), stage.stop(), urls.stop()]);
    removeDir(dir);
  }
  console.log(`${passed} passed, ${failed} failed`);
  process.exitCode = failed === 0 ? 0 : 1;
}

/** The lines of a command's output that say more than that a check is ok. */
export const spoken = (output: string): string =>
  output
    .trim()
    .split("\n")
    .filter((line) => !line.startsWith(" ") && !line.startsWith("ok "))
    .join("\n");

/**
 * Throws where anything but a table, the bucket and the CRDs is left of an installation; else what was looked for. The
 * cluster is asked too, unless there is none any more.
 */
export async function nothingLeft({ account, stage }: Newcomer, hasCluster = true): Promise<string> {
  const { tables, ...inAccount } = await found(account);
  const { instances, launchTemplates, instanceProfiles } = stage.fake.state;
  const objects = async (kind: string, words = ""): Promise<readonly string[]> =>
    (await stage.cluster.kubectl("get", kind, "-A", "-o", "name")).split("\n").filter((name) => name.includes(words) && name !== "");
  const looked: Readonly<Record<string, readonly unknown[]>> = {
    ...inAccount,
    accessEntries: account.ministack.accessEntries(),
    instances: [...instances.values()].filter(({ state }) => state !== "terminated"),
    launchTemplates: [...launchTemplates.keys()],
    instanceProfiles: [...instanceProfiles.keys()],
    ...(hasCluster && (await inCluster())),
  };
  const left = Object.entries(looked).filter(([, names]) => names.length > 0);
  if (left.length > 0) throw new Error(`left: ${JSON.stringify(Object.fromEntries(left)).slice(0, 2_000)}`);
  if (tables.length > 1) throw new Error(`tables: ${tables.join(", ")}`);
  return `looked for ${Object.keys(looked).join(", ")}; stays: ${tables.length} table`;

  async function inCluster(): Promise<Readonly<Record<string, readonly string[]>>> {
    return {
      nodePools: await objects("nodepools"),
      nodeClaims: await objects("nodeclaims"),
      nodeClasses: await objects("ec2nodeclasses"),
      nodes: await objects("nodes"),
      webhooks: await objects("validatingwebhookconfigurations,mutatingwebhookconfigurations", "karpenter-serverless"),
      clusterRoles: await objects("clusterroles,clusterrolebindings", "karpenter-serverless"),
      rolesInCluster: await objects("roles,rolebindings", "karpenter-serverless"),
      leases: await objects("leases", "karpenter-serverless"),
      flowSchemas: await objects("flowschemas,prioritylevelconfigurations", "karpenter-serverless"),
    };
  }
}

/** Throws where a call has another form than AWS's models; else which calls there were. */
export async function inForm({ shapeFaults, calls }: Account): Promise<string> {
  if (shapeFaults.length > 0) throw new Error(shapeFaults.join("\n"));
  return `${calls.length} calls: ${[...new Set(calls)].sort().join(", ")}`;
}
