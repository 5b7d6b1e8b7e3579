import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Code } from "aws-cdk-lib/aws-lambda";
import { secretText } from "#adapters/aws/secret.ts";
import { clusterToken } from "#adapters/lambda/path-token.ts";
import { embeddedNodeClaimStore } from "#adapters/store/embedded-store.ts";
import { parseSettings } from "#infra/settings.ts";
import { makeStacks, synthesized } from "#infra/synthesis.ts";
import { s3Bucket } from "#installer/account/bucket.ts";
import { awsInspector } from "#installer/account/inspector.ts";
import { leftBehindOnAws } from "#installer/account/left-behind.ts";
import { liveSettings } from "#installer/account/live-settings.ts";
import { cloudFormationStacks } from "#installer/account/stacks.ts";
import { status } from "#installer/checks/status.ts";
import { install } from "#installer/install/install.ts";
import { uninstall } from "#installer/uninstall/uninstall.ts";
import { VERSION } from "#settings/version.ts";
import { removeDir } from "../../e2e/support/child.ts";
import { deployedFunctions } from "../../e2e/support/deploy.ts";
import { startMiniStack } from "../../e2e/support/ministack.ts";
import { World } from "./world.ts";

/**
 * Installs on MiniStack's S3, CloudFormation and Secrets Manager, twice, without any
 * preparation: `node test/installer/install/on-ministack.ts`. EKS and the API server are stand-ins. Prints "N passed,
 * N failed".
 */

const dir = mkdtempSync(join(tmpdir(), "install-on-ministack-"));
const ministack = await startMiniStack({ dataDir: dir });
process.env["AWS_ENDPOINT_URL"] = ministack.url;
const caller = { region: ministack.region, credentials: ministack.credentials, endpoint: ministack.url, timeoutMs: 60_000 };
const codeDir = join(dir, "code");
mkdirSync(codeDir);
writeFileSync(join(codeDir, "index.mjs"), "export const handler = async () => ({});");

const settings = parseSettings({ clusters: [{ name: "c1" }], region: ministack.region, enforceTls: false }, "test");
const world = new World();
const fakes = world.ports({ caller: async () => ({ account: ministack.accountId, arn: "arn:aws:iam::111122223333:root" }) });
const ports = {
  ...fakes,
  synthesize: async (given: typeof settings, outDir: string) => {
    synthesized(makeStacks({ settings: given, outDir, code: () => Code.fromAsset(codeDir) }), given, outDir);
  },
  bucket: (account: string) => s3Bucket(account, caller),
  stacks: cloudFormationStacks(caller),
  secret: (arn: string) => secretText(arn, caller),
  sleep: (ms: number) => sleep(Math.min(ms, 300)),
};

let lines: string[] = [];
const run = async (withDefaultPool: boolean, given = settings) => {
  lines = [];
  const options = {
    cluster: "c1",
    region: ministack.region,
    settings: given,
    hasEndpointOption: false,
    tagNetwork: false,
    withDefaultPool,
    dryRun: false,
  };
  return install(options, ports, (line) => void lines.push(line));
};
const has = (text: string): void => {
  if (!lines.some((line) => line.includes(text))) throw new Error(`no line says "${text}":\n${lines.join("\n")}`);
};

const CHECKS: readonly (readonly [string, () => Promise<void>])[] = [
  [
    "an installation without preparation makes bucket, stack, definitions and default pool",
    async () => {
      const { output } = await run(true);
      if (!output.includes("cluster c1 is served")) throw new Error(output);
      has("creating stack karpenter-serverless");
      if (!world.objects.has("NodePool/default")) throw new Error("there is no default NodePool");
      const names = (await deployedFunctions(ministack)).map(({ name }) => name);
      if (!names.includes("karpenter-serverless-provision")) throw new Error(names.join(", "));
    },
  ],
  [
    "the webhook has the URL of the deployed stack, and the secret that it has made",
    async () => {
      const { outputs = {} } = (await ports.stacks.describe("karpenter-serverless")) ?? {};
      const token = await ports.secret(outputs["NotifyTokenArn"] ?? "");
      const webhook = JSON.stringify(world.objects.get("ValidatingWebhookConfiguration/karpenter-serverless-notify"));
      if (!webhook.includes(`${outputs["NotifyUrl"]?.replace(/\/$/, "")}/v1/c1/${clusterToken(token, "c1")}`))
        throw new Error("it has another");
      if (lines.join("\n").includes(token)) throw new Error("the secret was printed");
    },
  ],
  [
    "an installation that is repeated uploads nothing and ends as before",
    async () => {
      await run(false);
      has(": 0 of ");
      has("updating stack karpenter-serverless");
    },
  ],
  [
    "status reads the stack that was deployed: its version, functions, dead-letter queues and webhook",
    async () => {
      const { account, clusterApi, clusterRecords, stacks, secret } = ports;
      const inspector = awsInspector(ministack.region, () => caller);
      const options = { cluster: "c1", region: ministack.region, stackName: "karpenter-serverless", json: false };
      const live = liveSettings(ministack.region, () => caller);
      const { output } = await status(options, {
        account,
        live,
        clusterApi,
        clusterRecords,
        stacks,
        secret,
        inspector,
        now: Date.now,
        records: () => embeddedNodeClaimStore(),
      });
      lines = output.split("\n");
      console.log(output);
      has(`ok     stack: karpenter-serverless ${VERSION}`);
      has("ok     functions: 6 without an error");
      has("ok     dead-letter queues: 5, all empty");
      has("ok     notify: the webhook calls the stack's URL");
    },
  ],
  [
    "what a cluster that is gone has left is found and removed: stack and table",
    async () => {
      lines = [];
      world.isClusterGone = true;
      const uninstalling = {
        ...ports,
        leftBehind: leftBehindOnAws(ministack.region, ministack.credentials, caller),
        confirm: async () => true,
        records: () => embeddedNodeClaimStore(),
        now: Date.now,
      };
      const options = {
        cluster: "c1",
        region: ministack.region,
        stackName: "karpenter-serverless",
        drain: false,
        keepNodes: false,
        startKarpenter: false,
        yes: false,
        dryRun: false,
      };
      const { output } = await uninstall(options, uninstalling, (line) => void lines.push(line));
      console.log(`${lines.join("\n")}\n${output}`);
      has("stack karpenter-serverless: CREATE_COMPLETE");
      has("removed table ");
      if ((await ports.stacks.describe("karpenter-serverless")) !== undefined) throw new Error("the stack is there");
      if ((await deployedFunctions(ministack)).length > 0) throw new Error("there are functions");
    },
  ],
];

let failed = 0;
try {
  for (const [name, check] of CHECKS) {
    try {
      await check();
      console.log(`ok      ${name}`);
    } catch (error) {
      failed += 1;
      console.log(`FAILED  ${name}: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
} finally {
  await ministack.stop();
  await removeDir(dir);
}
console.log(`${CHECKS.length - failed} passed, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;
