import { execFile } from "node:child_process";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { LONG } from "../e2e/observe.ts";
import { ACCOUNT, CLUSTER, REGION, type Stage, startStage } from "../e2e/stage.ts";
import { removeDir } from "../e2e/support/child.ts";
import { clusterIdentities } from "../e2e/support/deploy.ts";
import { copyTables, type DynamoDbLocal, startDynamoDbLocal } from "../e2e/support/dynamodb-local.ts";
import { type MiniStack, startMiniStack } from "../e2e/support/ministack.ts";
import { projectRoot } from "../e2e/support/paths.ts";
import { limitPollers } from "../e2e/support/pollers.ts";

/** A cluster with its account, in which a person types commands of the program. */
export interface Account {
  readonly stage: Stage;
  readonly ministack: MiniStack;
  readonly dynamodb: DynamoDbLocal;
  /** A settings file for the cluster. */
  readonly config: string;
  /**
   * Runs the program of a checkout, by default this one. Its lines are printed as they come, and returned. Throws with
   * what it says on standard error when it does not end with 0.
   */
  readonly run: (args: readonly string[], checkout?: string) => Promise<string>;
  /** Runs the program and kills it as soon as it prints the text; throws when it ends before. */
  readonly kill: (at: string, args: readonly string[]) => Promise<void>;
  readonly stop: () => Promise<void>;
}

const KEY = { accessKeyId: ACCOUNT, secretAccessKey: "test" };
const FOLLOW_MS = 500;

/** @param keepsLogs whether the folder of logs stays, and is named at the end */
export async function startAccount(keepsLogs: boolean): Promise<Account> {
  const dataDir = mkdtempSync(join(tmpdir(), "hand-over-"));
  const stage = await startStage({ dataDir, readyAfter: "1s", aws: { bootDelayMs: 1_000, terminateDelayMs: 1_000 } });
  const dynamodb = await startDynamoDbLocal({ dataDir });
  const services = Object.fromEntries(["EC2", "SSM", "PRICING", "EKS", "IAM"].map((name) => [`AWS_ENDPOINT_URL_${name}`, stage.fake.url]));
  const database = { AWS_ENDPOINT_URL_DYNAMODB: dynamodb.url };
  const ministack = await startMiniStack({ dataDir, region: REGION, accountId: ACCOUNT, env: { ...services, ...database } });
  const env = {
    ...{ ...services, ...database, AWS_ENDPOINT_URL: ministack.url, AWS_REGION: REGION, AWS_EC2_METADATA_DISABLED: "true" },
    ...{ AWS_ACCESS_KEY_ID: KEY.accessKeyId, AWS_SECRET_ACCESS_KEY: KEY.secretAccessKey },
  };
  const config = join(dataDir, "settings.json");
  // The stand-ins speak plain HTTP, and an API server calls no such webhook.
  const settings = { clusters: [{ name: CLUSTER, sources: ["sweep"] }], architecture: "x86_64", enforceTls: false };
  writeFileSync(config, JSON.stringify({ ...settings, settings: { LOG_LEVEL: "debug" } }));
  const administrator = { ...KEY, arn: `arn:aws:iam::${ACCOUNT}:user/admin`, username: "admin", groups: ["system:masters"] };
  await stage.cluster.setIdentities([administrator]);

  /** What EKS and DynamoDB do when the stack is there: let the functions in, and have its table. */
  let isOver = false;
  const following = (async () => {
    for (let known = ""; !isOver; await sleep(FOLLOW_MS)) {
      const identities = await clusterIdentities(ministack, CLUSTER).catch(() => []);
      const keys = identities.map(({ accessKeyId }) => accessKeyId).join();
      if (keys === known) continue;
      known = keys;
      await copyTables({ from: ministack, dynamodb });
      await stage.cluster.setIdentities([administrator, ...identities]);
      await limitPollers(ministack).catch(() => {});
    }
  })();

  return {
    ...{ stage, ministack, dynamodb, config },
    run: (args, checkout = projectRoot) => runProgram(args, checkout, env),
    async kill(at, args) {
      const said = await runProgram(args, projectRoot, env, at).catch((error: unknown) => {
        if (error instanceof Killed) return undefined;
        throw error;
      });
      if (said !== undefined) throw new Error(`it ended without saying "${at}"`);
      console.log("  … is killed");
    },
    async stop() {
      isOver = true;
      const stopped = await Promise.allSettled([following, ministack.stop(), dynamodb.stop(), stage.stop()]);
      if (keepsLogs) console.log(`logs: ${dataDir}`);
      else removeDir(dataDir);
      for (const outcome of stopped) if (outcome.status === "rejected") throw outcome.reason;
    },
  };
}

/**
 * For commands that end with `doctor`: the stand-ins do not answer all that it asks, which is exit code 1. Throws any
 * other error.
 */
export function unlessDoctorAsksMore(error: unknown): void {
  if (!/ (?:upgrade|install) ended with 1: (?:it is installed, but [^\n]*)?\s*$/.test(` ${String(error).replace("Error: ", "")}`))
    throw error;
}

/** The program was killed on purpose. */
class Killed extends Error {}

async function runProgram(
  args: readonly string[],
  checkout: string,
  env: Readonly<Record<string, string>>,
  killAt?: string,
): Promise<string> {
  console.log(`$ karpenter-serverless ${args.join(" ")}`);
  return await new Promise((resolve, reject) => {
    const child = execFile(
      join(projectRoot, "node_modules/.bin/node"),
      [join(checkout, "cli/main.ts"), ...args],
      { env: { ...process.env, ...env }, maxBuffer: 1e8, timeout: LONG },
      (error, stdout, stderr) => {
        if (error === null) resolve(stdout + stderr);
        else if (killAt !== undefined && stdout.includes(killAt)) reject(new Killed());
        else reject(new Error(`${args[0]} ended with ${error.code}: ${stderr}`));
      },
    );
    child.stdout?.on("data", (text: string) => {
      process.stdout.write(text.replaceAll(/^(?=.)/gm, "  "));
      if (killAt !== undefined && text.includes(killAt)) child.kill("SIGKILL");
    });
  });
}
