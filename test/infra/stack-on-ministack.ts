import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Code } from "aws-cdk-lib/aws-lambda";
import { makeApp } from "#infra/app.ts";
import type { FunctionName } from "#infra/functions.ts";
import { parseSettings } from "#infra/settings.ts";
import { type AwsTarget, awsJson, awsQuery } from "../e2e/support/aws-call.ts";
import { removeDir } from "../e2e/support/child.ts";
import { deployedFunctions, deployTemplate, nameOf, physicalNames, readSynthesized, type Template } from "../e2e/support/deploy.ts";
import { type MiniStack, startMiniStack } from "../e2e/support/ministack.ts";
import { eventually } from "../e2e/support/wait.ts";

/**
 * Deploys the synthesised stack of three clusters, one of them in another account, to MiniStack, IAM enforced, with
 * functions that only report what woke them: `node test/infra/stack-on-ministack.ts`. Prints one line a trigger and "N
 * passed, N failed"; exits 1 when one failed.
 */

/** What a function reports: its name and the event. */
interface Call {
  readonly name: string;
  readonly event: string;
}

const TELLTALE = `export const handler = async (event) => {
  const name = process.env.AWS_LAMBDA_FUNCTION_NAME;
  const { CLUSTERS, TABLE_NAME, NOTIFY_TOKEN } = process.env;
  await fetch(process.env.LISTENER, { method: "POST", body: JSON.stringify({ name, event: JSON.stringify(event), CLUSTERS, TABLE_NAME, NOTIFY_TOKEN }) });
  return { batchItemFailures: [], statusCode: 200, body: "{}" };
};`;

async function startListener(): Promise<{ readonly url: string; readonly calls: readonly Call[]; readonly stop: () => void }> {
  const calls: Call[] = [];
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const chunk of request) body += String(chunk);
    calls.push(JSON.parse(body) as Call);
    response.end();
  });
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, calls, stop: () => server.close() };
}

type Step = readonly [
  name: string,
  act: (ministack: MiniStack, outputs: Readonly<Record<string, string>>) => Promise<unknown>,
  by: FunctionName,
  text: string,
];

const STACK = "autoscaler";
const LOG_GROUP = "/aws/eks/c1/cluster";

async function send(ministack: MiniStack, queue: string, body: object, fifo: object = {}): Promise<unknown> {
  const QueueName = nameOf(await physicalNames(ministack, STACK), queue);
  const { QueueUrl } = await awsJson<{ QueueUrl: string }>(ministack, "sqs", "AmazonSQS.GetQueueUrl", { QueueName });
  return awsJson(ministack, "sqs", "AmazonSQS.SendMessage", { QueueUrl, MessageBody: JSON.stringify(body), ...fifo });
}

async function log(ministack: MiniStack, record: object): Promise<unknown> {
  const logEvents = [{ timestamp: Date.now(), message: JSON.stringify(record) }];
  return awsJson(ministack, "logs", "Logs_20140328.PutLogEvents", { logGroupName: LOG_GROUP, logStreamName: "audit", logEvents });
}

/** Calls a function URL; its public name cannot be resolved here. */
async function callUrl(ministack: MiniStack, functionUrl: string, path: string): Promise<unknown> {
  const id = new URL(functionUrl).hostname.split(".")[0];
  return fetch(`${ministack.url}/_aws/lambda-url/${id}${path}`, { method: "POST", body: "{}" });
}

const unschedulable = {
  verb: "patch",
  user: { username: "system:kube-scheduler" },
  objectRef: { resource: "pods", subresource: "status", name: "web-1" },
  responseStatus: { code: 200 },
  requestObject: { status: { conditions: [{ type: "PodScheduled", status: "False", reason: "Unschedulable" }] } },
};

const STEPS: readonly Step[] = [
  [
    "a wake-up of the provision queue",
    (ministack) =>
      send(ministack, "ProvisionQueue", { kind: "provision", cluster: "c1" }, { MessageGroupId: "c1", MessageDeduplicationId: "1" }),
    "provision",
    '"MessageGroupId":"c1"',
  ],
  [
    "a wake-up of the claims queue",
    (ministack) => send(ministack, "ClaimsQueue", { kind: "claim" }),
    "lifecycle",
    '"eventSource":"aws:sqs"',
  ],
  ["a wake-up of the disruption queue", (ministack) => send(ministack, "DisruptionQueue", { kind: "disruption" }), "disruption", "aws:sqs"],
  ["a wake-up of the catalog queue", (ministack) => send(ministack, "CatalogQueue", { kind: "catalog" }), "catalog", "aws:sqs"],
  [
    "a spot interruption",
    async (ministack) => {
      const detail = { "instance-id": "i-1", "instance-action": "terminate" };
      const entry = {
        Source: "aws.ec2",
        DetailType: "EC2 Spot Instance Interruption Warning",
        Detail: JSON.stringify(detail),
        Resources: [],
      };
      return awsJson(ministack, "events", "AWSEvents.PutEvents", { Entries: [entry] });
    },
    "interruption",
    "EC2 Spot Instance Interruption Warning",
  ],
  ["an audit record that matters", (ministack) => log(ministack, unschedulable), "audit", "awslogs"],
  [
    "a webhook call",
    (ministack, { NotifyUrl = "" }) => callUrl(ministack, NotifyUrl, "/v1/c1/0123456789abcdef"),
    "notify",
    "/v1/c1/0123456789abcdef",
  ],
  [
    "a question of the API server",
    (ministack, { AdmissionUrl = "" }) => callUrl(ministack, AdmissionUrl, "/v1/c1/fedcba9876543210/validate"),
    "admission",
    "/v1/c1/fedcba9876543210/validate",
  ],
  ...(["provision", "lifecycle", "disruption", "catalog"] as const).map(
    (name): Step => [`the sweep of ${name}`, async () => {}, name, '{"kind":"sweep"}'],
  ),
];

const OTHER_ACCOUNT = "222233334444";
const EXTERNAL_ID = "0d5c7f6e";

/** A key of twelve digits is the root of the account of that number. */
const inOtherAccount = (ministack: MiniStack): AwsTarget => ({
  ...ministack,
  credentials: { accessKeyId: OTHER_ACCOUNT, secretAccessKey: "test" },
});

/** Takes the role of one function in the other account, in the name of another or the same. */
async function assume(ministack: MiniStack, by: FunctionName, role: FunctionName, externalId: string): Promise<string> {
  const caller = (await deployedFunctions(ministack)).find(({ name }) => name === `${STACK}-${by}`);
  if (caller === undefined) throw new Error(`there is no function ${by}`);
  return awsQuery({ ...ministack, credentials: caller.credentials }, "sts", "2011-06-15", "AssumeRole", {
    RoleArn: `arn:aws:iam::${OTHER_ACCOUNT}:role/${STACK}-c3-${role}`,
    RoleSessionName: "test",
    ExternalId: externalId,
  });
}

const refused = async (call: Promise<unknown>): Promise<void> => {
  const error = await call.then(
    () => undefined,
    (reason: unknown) => String(reason),
  );
  if (!error?.includes("AccessDenied")) throw new Error(`it was not denied: ${error ?? "it succeeded"}`);
};

const ASSUMED = [
  {
    name: "lifecycle takes its role in the account of c3",
    check: async (ministack: MiniStack) => {
      const answer = await assume(ministack, "lifecycle", "lifecycle", EXTERNAL_ID);
      if (!answer.includes("<AccessKeyId>")) throw new Error(answer);
    },
  },
  {
    name: "without the external id it is refused",
    check: (ministack: MiniStack) => refused(assume(ministack, "lifecycle", "lifecycle", "another")),
  },
  {
    name: "provision does not get lifecycle's role there",
    check: (ministack: MiniStack) => refused(assume(ministack, "provision", "lifecycle", EXTERNAL_ID)),
  },
];

async function main(): Promise<void> {
  const dir = mkdtempSync(join(tmpdir(), "stack-on-ministack-"));
  const listener = await startListener();
  const ministack = await startMiniStack({ dataDir: dir, timeScale: 12, env: { LISTENER: listener.url } });
  let passed = 0;
  let failed = 0;
  try {
    const codeDir = join(dir, "code");
    mkdirSync(codeDir);
    writeFileSync(join(codeDir, "index.mjs"), TELLTALE);
    const settings = parseSettings(
      {
        stackName: STACK,
        clusters: [
          { name: "c1", sources: ["audit", "notify", "sweep"] },
          { name: "c2" },
          { name: "c3", account: OTHER_ACCOUNT, externalId: EXTERNAL_ID },
        ],
        ephemeral: true,
        createNodeRoles: true,
        admission: true,
        scrape: true,
        enforceTls: false,
      },
      "test",
    );
    const { app, access } = makeApp({ settings, outDir: join(dir, "cdk.out"), code: () => Code.fromAsset(codeDir) });
    app.synth();
    await awsJson(ministack, "logs", "Logs_20140328.CreateLogGroup", { logGroupName: LOG_GROUP });
    await awsJson(ministack, "logs", "Logs_20140328.CreateLogStream", { logGroupName: LOG_GROUP, logStreamName: "audit" });
    const began = performance.now();
    const { template, assets } = readSynthesized(join(dir, "cdk.out"), STACK, ministack);
    const outputs = await deployTemplate({ target: ministack, stackName: STACK, template, assets });
    console.log(`${Object.keys(template.Resources).length} resources deployed in ${((performance.now() - began) / 1000).toFixed(1)} s`);
    for (const { stackName } of access) {
      const file = join(dir, "cdk.out", `${stackName}.template.json`);
      await deployTemplate({
        target: inOtherAccount(ministack),
        stackName,
        template: JSON.parse(readFileSync(file, "utf8")) as Template,
        parameters: { InterruptionQueueArn: outputs["InterruptionQueueArn"] ?? "" },
      });
    }
    for (const [name, act, by, text] of STEPS) {
      try {
        await act(ministack, outputs);
        const collected = (): Call | undefined =>
          listener.calls.find((call) => call.name === `${STACK}-${by}` && call.event.includes(text));
        await eventually(`${by} is woken`, async () => collected());
        passed += 1;
        console.log(`ok   ${name} wakes ${by}`);
      } catch (error) {
        failed += 1;
        console.log(`FAIL ${name} wakes ${by}: ${error instanceof Error ? error.message : String(error)}`);
      }
    }
    // MiniStack knows a function's key once it has run.
    for (const { name, check } of ASSUMED) {
      try {
        await check(ministack);
        passed += 1;
        console.log(`ok   ${name}`);
      } catch (error) {
        failed += 1;
        console.log(`FAIL ${name}: ${error instanceof Error ? error.message : String(error)}`);
      }
    }
    const before = listener.calls.length;
    const woken = (): number => listener.calls.slice(before).filter((call) => call.name === `${STACK}-audit`).length;
    await log(ministack, { ...unschedulable, verb: "get" });
    // A write that wakes follows it: by then the wake-ups of the read would have arrived.
    await log(ministack, unschedulable);
    await eventually("audit is woken by what comes after", () => woken() > 0);
    await sleep(1_000);
    woken() === 1 ? passed++ : failed++;
    console.log(woken() === 1 ? "ok   a read in the audit log wakes nobody" : "FAIL a read in the audit log wakes audit");
  } finally {
    await ministack.stop();
    listener.stop();
    removeDir(dir);
  }
  console.log(`${passed} passed, ${failed} failed`);
  process.exitCode = failed === 0 ? 0 : 1;
}

await main();
