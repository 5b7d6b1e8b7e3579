import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { build } from "esbuild";
import { zip } from "#infra/zip.ts";
import { startAuditShipper } from "./audit-shipper.ts";
import { awsJson } from "./aws-call.ts";
import { removeDir } from "./child.ts";
import { type BootRequest, startCluster } from "./cluster.ts";
import { clusterIdentities, deployedFunctions, deployTemplate, invokeFunction } from "./deploy.ts";
import { copyTables, startDynamoDbLocal } from "./dynamodb-local.ts";
import { startFunctionUrlGateway } from "./function-url.ts";
import { startMiniStack } from "./ministack.ts";
import { projectRoot, supportDir } from "./paths.ts";
import { smokeTemplate } from "./smoke-template.ts";
import { eventually } from "./wait.ts";

// Tests the harness that the stories rely on, with one small function in place of the product.

const clusterName = "smoke";
let passed = 0;
let failed = 0;

/** Runs a step and prints one line with its time. A failed step does not stop the next. */
async function check(what: string, step: () => Promise<void>): Promise<void> {
  const began = performance.now();
  try {
    await step();
    passed++;
    console.log(`ok   ${what.padEnd(78)} ${((performance.now() - began) / 1000).toFixed(2)} s`);
  } catch (error) {
    failed++;
    console.log(`FAIL ${what}\n     ${error instanceof Error ? error.message : String(error)}`);
  }
}

function assert(holds: boolean, found: unknown): void {
  if (!holds) {
    throw new Error(`found ${JSON.stringify(found)}`);
  }
}

const dataDir = mkdtempSync(join(tmpdir(), "karpenter-serverless-smoke-"));
const dynamodb = await startDynamoDbLocal({ dataDir });
const ministack = await startMiniStack({ dataDir, timeScale: 20, env: { AWS_ENDPOINT_URL_DYNAMODB: dynamodb.url } });
const cluster = await startCluster({ dataDir: join(dataDir, "cluster"), clusterName });
const shipper = await startAuditShipper({ target: ministack, auditLog: cluster.auditLog, clusterName });

type Note = {
  readonly kind: { S: string };
  readonly detail: { S: string };
  readonly accessKeyId: { S: string };
  readonly node: { S: string };
};
const table = { ...ministack, url: dynamodb.url };
const notes = async (kind: string): Promise<readonly Note[]> => {
  const { Items } = await awsJson<{ Items: Note[] }>(table, "dynamodb", "DynamoDB_20120810.Query", {
    TableName: "smoke",
    KeyConditionExpression: "kind = :k",
    ExpressionAttributeValues: { ":k": { S: kind } },
  });
  return Items;
};
const noted = async (kind: string, text: string): Promise<Note> => {
  const within = async (): Promise<Note | undefined> => (await notes(kind)).find((note) => note.detail.S.includes(text));
  return await eventually(`the function notes ${text} (${kind})`, within);
};
const send = async (QueueUrl: string, MessageBody: string, MessageGroupId: string): Promise<void> => {
  await awsJson(ministack, "sqs", "AmazonSQS.SendMessage", { QueueUrl, MessageBody, MessageGroupId });
};

const userData = `MIME-Version: 1.0
Content-Type: multipart/mixed; boundary="//"

--//
Content-Type: application/node.eks.aws

apiVersion: node.eks.aws/v1alpha1
kind: NodeConfig
spec:
  cluster:
    name: ${clusterName}
    apiServerEndpoint: ${cluster.server}
    certificateAuthority: ${cluster.caData}
    cidr: 10.96.0.0/16
  kubelet:
    config:
      maxPods: 29
      registerWithTaints:
        - key: karpenter.sh/unregistered
          effect: NoExecute
    flags:
      - --node-labels="karpenter.sh/nodepool=default"
--//--
`;
const nodeName = "ip-10-0-1-10.us-west-2.compute.internal";
const machine: BootRequest = {
  instanceId: "i-0123456789abcdef0",
  zone: "us-west-2a",
  region: "us-west-2",
  instanceType: "m5.large",
  capacity: { cpu: "2", memory: "8Gi", "ephemeral-storage": "20Gi" },
  privateDnsName: nodeName,
  userData,
};
const pod = {
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: "web", namespace: "default" },
  spec: { containers: [{ name: "web", image: "registry.example/web:1", resources: { requests: { cpu: "1", memory: "1Gi" } } }] },
};

let outputs: Readonly<Record<string, string>> = {};
const output = (name: string): string => outputs[name] ?? "";

try {
  await check("a stack of 21 resources is deployed", async () => {
    const bundle = await build({
      entryPoints: [join(supportDir, "smoke-function.ts")],
      absWorkingDir: projectRoot,
      bundle: true,
      write: false,
      minify: true,
      platform: "node",
      target: "node24",
      format: "esm",
      mainFields: ["module", "main"],
    });
    const body = zip({ "index.mjs": `await undefined;${bundle.outputFiles[0]?.text}` }); // also tests top-level await
    outputs = await deployTemplate({
      target: ministack,
      stackName: "smoke",
      template: smokeTemplate,
      assets: [{ bucket: "smoke-code", key: "function.zip", body }],
      parameters: { CodeKey: "function.zip", ClusterName: clusterName },
    });
    const tables = await copyTables({ from: ministack, dynamodb });
    assert(tables.join() === "smoke", tables);
  });
  await check("a second deployment of the same stack changes nothing and succeeds", async () => {
    const parameters = { CodeKey: "function.zip", ClusterName: clusterName };
    const again = await deployTemplate({ target: ministack, stackName: "smoke", template: smokeTemplate, parameters });
    assert(again["ToyName"] === outputs["ToyName"], again);
  });
  await check("a function runs on Node 24 with its role's own key", async () => {
    await invokeFunction(ministack, output("ToyName"), { hello: "there" });
    const note = await noted("other", "there");
    const toy = (await deployedFunctions(ministack)).find(({ name }) => name === outputs["ToyName"]);
    assert(note.node.S.startsWith("v24.") && note.accessKeyId.S === toy?.credentials.accessKeyId, note);
  });
  await check("a role without sqs:SendMessage may not send, one with it may", async () => {
    await invokeFunction(ministack, output("ToyName"), { send: outputs["NoticesUrl"] });
    const refused = await invokeFunction(ministack, output("OtherName"), { send: outputs["NoticesUrl"] }).catch(String);
    assert(String(refused).includes("is not authorized to perform: sqs:SendMessage"), refused);
    await noted("sqs", "sent by the function");
  });
  await check("a FIFO queue wakes it; a refused message comes again, and its group waits", async () => {
    await send(output("FifoUrl"), "refuse me once", "a");
    await noted("sqs", "refuse me once");
    await send(output("FifoUrl"), "after it", "a");
    await send(output("FifoUrl"), "of another group", "b");
    await noted("sqs", "after it");
    const bodies = (await notes("sqs"))
      .filter((note) => note.detail.S.includes("smoke.fifo"))
      .map((note) => (JSON.parse(note.detail.S) as { body: string }).body);
    assert(bodies.join() === "refuse me once,of another group,refuse me once,after it", bodies);
  });
  await check("a slow group does not delay another", async () => {
    await send(output("FifoUrl"), "slow", "slow group");
    await eventually("the slow message is under way", async () => {
      const { Attributes } = await awsJson<{ Attributes: Readonly<Record<string, string>> }>(
        ministack,
        "sqs",
        "AmazonSQS.GetQueueAttributes",
        {
          QueueUrl: output("FifoUrl"),
          AttributeNames: ["ApproximateNumberOfMessagesNotVisible"],
        },
      );
      return Attributes["ApproximateNumberOfMessagesNotVisible"] === "1";
    });
    await send(output("FifoUrl"), "quick", "quick group");
    await noted("sqs", '"body":"quick"');
    assert(!(await notes("sqs")).some((note) => note.detail.S.includes('"body":"slow"')), "the slow message was done first");
    await noted("sqs", '"body":"slow"');
  });
  await check("a function that is killed at its work is named before, counted after, and runs anew", async () => {
    const answer = invokeFunction(ministack, output("ToyName"), { Records: [{ body: "slow" }] }).catch(String);
    const victim = await eventually("it is at work", () => ministack.busy().find(({ name }) => name === output("ToyName")));
    process.kill(victim.pid, "SIGKILL");
    await eventually("its death is counted", () => ministack.died().join() === output("ToyName"));
    assert(String(await answer).includes("died") && ministack.busy().every(({ pid }) => pid !== victim.pid), await answer);
    await invokeFunction(ministack, output("ToyName"), { hello: "again" });
    await noted("other", "again");
  });
  await check("a spot notice of aws.ec2 passes the rule into its queue", async () => {
    const Detail = JSON.stringify({ "instance-id": machine.instanceId, "instance-action": "terminate" });
    const Entries = [{ Source: "aws.ec2", DetailType: "EC2 Spot Instance Interruption Warning", Detail, Resources: [] }];
    await awsJson(ministack, "events", "AWSEvents.PutEvents", { Entries });
    await noted("sqs", "EC2 Spot Instance Interruption Warning");
  });
  await check("a rule's rate and a schedule's rate fire", async () => {
    await noted("other", '"from":"rule"');
    await noted("other", '"from":"schedule"');
  });
  await check("its EKS token is refused before its access entry is known", async () => {
    const answer = await invokeFunction<{ status: number }>(ministack, output("ToyName"), {
      cluster: { server: cluster.server, ca: cluster.caData, name: clusterName },
    });
    assert(answer.status === 401, answer);
  });
  await check("then it is known, and RBAC decides", async () => {
    await cluster.setIdentities(await clusterIdentities(ministack, clusterName));
    const ask = { cluster: { server: cluster.server, ca: cluster.caData, name: clusterName } };
    await eventually(
      "the token is taken",
      async () => (await invokeFunction<{ status: number }>(ministack, output("ToyName"), ask)).status === 403,
    );
    await cluster.kubectl("create", "clusterrole", "smoke", "--verb=list", "--resource=namespaces");
    await cluster.kubectl("create", "clusterrolebinding", "smoke", "--clusterrole=smoke", "--group=smoke");
    await eventually(
      "the role counts",
      async () => (await invokeFunction<{ status: number }>(ministack, output("ToyName"), ask)).status === 200,
    );
    const other = await invokeFunction<{ status: number }>(ministack, output("OtherName"), ask);
    assert(other.status === 401, other);
  });
  await check("an unschedulable pod reaches the function through the audit log's JSON filter", async () => {
    await cluster.kubectl("apply", "-f", "-", { input: JSON.stringify(pod) });
    await eventually("a log event arrives", async () => (await notes("logs")).length > 0);
  });
  await check("the API server's webhook reaches its function URL", async () => {
    const gateway = await startFunctionUrlGateway({ ministackUrl: ministack.url, functionUrl: output("Url"), cluster });
    const webhook = {
      apiVersion: "admissionregistration.k8s.io/v1",
      kind: "ValidatingWebhookConfiguration",
      metadata: { name: "smoke" },
      webhooks: [
        {
          name: "smoke.example.com",
          clientConfig: { url: `${gateway.url}/notify/${clusterName}`, caBundle: gateway.caBundle },
          rules: [{ apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources: ["configmaps"] }],
          failurePolicy: "Ignore",
          sideEffects: "None",
          timeoutSeconds: 5,
          admissionReviewVersions: ["v1"],
        },
      ],
    };
    try {
      await cluster.kubectl("apply", "-f", "-", { input: JSON.stringify(webhook) });
      let made = 0;
      await eventually("a review arrives", async () => {
        await cluster.kubectl("create", "configmap", `smoke-${made++}`);
        return (await notes("url")).some((note) => note.detail.S.includes("AdmissionReview"));
      });
      await cluster.kubectl("delete", "validatingwebhookconfiguration", "smoke");
    } finally {
      await gateway.stop();
    }
  });
  await check("a machine with another cluster's user data does not join", async () => {
    const answer = await cluster.boot({ ...machine, userData: userData.replace(`name: ${clusterName}`, "name: other") }).catch(String);
    assert(String(answer).includes('names the cluster "other"'), answer);
  });
  await check("a machine joins by its user data, once", async () => {
    const first = await cluster.boot(machine);
    const second = await cluster.boot(machine);
    assert(first.created && !second.created && first.name === nodeName, [first, second]);
    await cluster.kubectl("wait", "--for=condition=Ready", `node/${nodeName}`, "--timeout=120s");
    const node = JSON.parse(await cluster.kubectl("get", "node", nodeName, "-o", "json")) as NodeJson;
    const { labels } = node.metadata;
    assert(
      labels["karpenter.sh/nodepool"] === "default" &&
        labels["topology.kubernetes.io/zone"] === "us-west-2a" &&
        node.status.capacity["pods"] === "29",
      node,
    );
    assert(
      node.spec.taints.some((taint) => taint.key === "karpenter.sh/unregistered" && taint.effect === "NoExecute"),
      node.spec,
    );
  });
  await check("the pod runs on it once the taint is gone", async () => {
    await cluster.kubectl("taint", "node", nodeName, "karpenter.sh/unregistered-");
    const phase = async (): Promise<boolean> =>
      (await cluster.kubectl("get", "pod", "web", "-o", "jsonpath={.status.phase}")) === "Running";
    await eventually("the pod runs", phase);
  });
  await check("a halted machine's kubelet stops", async () => {
    await cluster.halt({ providerID: `aws:///${machine.zone}/${machine.instanceId}` });
    await sleep(2_000); // the kubelet gets the change by a watch, and no state shows when
    await cluster.kubectl("delete", "pod", "web", "--wait=false");
    await sleep(2_000);
    const stamp = await cluster.kubectl("get", "pod", "web", "-o", "jsonpath={.metadata.deletionTimestamp}");
    assert(stamp !== "", "the pod is gone: something still ends pods on the halted machine");
  });
} finally {
  await check("everything stops", async () => {
    await shipper.stop();
    await Promise.all([cluster.stop(), ministack.stop(), dynamodb.stop()]);
  });
  if (failed === 0) {
    removeDir(dataDir);
  } else {
    console.log(`logs: ${dataDir}`);
  }
}

console.log(`${passed} passed, ${failed} failed (${shipper.shipped()} audit events shipped)`);
process.exitCode = failed === 0 ? 0 : 1;

type NodeJson = {
  readonly metadata: { readonly labels: Readonly<Record<string, string>> };
  readonly spec: { readonly taints: readonly { readonly key: string; readonly effect: string }[] };
  readonly status: { readonly capacity: Readonly<Record<string, string>> };
};
