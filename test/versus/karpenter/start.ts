import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parse, stringify } from "yaml";
import { manifests } from "#infra/manifests.ts";
import { ACCOUNT, CLUSTER, REGION, type Stage } from "../../e2e/stage.ts";
import { awsJson } from "../../e2e/support/aws-call.ts";
import { freePort, startChild } from "../../e2e/support/child.ts";
import { startMiniStack } from "../../e2e/support/ministack.ts";
import type { Autoscaler } from "../autoscaler.ts";
import { processesBelow } from "../processes.ts";
import { buildKarpenter } from "./build.ts";

const USER = "karpenter";
const QUEUE = "karpenter-interruption";
/** What the chart sets as limits.memory; the controller derives its soft limit from it. */
const MEMORY_LIMIT = 1024 ** 3;

/** The CRDs of Karpenter, and its namespace. */
export async function prepareForKarpenter({ cluster }: Pick<Stage, "cluster">): Promise<void> {
  await cluster.kubectl("apply", "--server-side", "-f", "-", { input: manifests({ cluster: CLUSTER }) });
  await cluster.kubectl("wait", "--for=condition=Established", "crd", "--all", "--timeout=300s");
  await cluster.kubectl("create", "namespace", "karpenter");
}

/** The settings of one process of Karpenter's controller that its chart or a person gives; they come last. */
export type KarpenterEnv = Readonly<Record<string, string>>;

/**
 * Starts Karpenter's controller beside the API server, with a queue of EC2's events as its installation guide has it.
 */
export async function startKarpenter(stage: Stage): Promise<Autoscaler> {
  await prepareForKarpenter(stage);
  return startController(stage, { DISABLE_LEADER_ELECTION: "true" });
}

/** Starts one more process of the controller in a cluster that is prepared. */
export async function startController(stage: Stage, given: KarpenterEnv): Promise<Autoscaler> {
  const { cluster, fake, dataDir } = stage;
  const controller = buildKarpenter();
  const ministack = await startMiniStack({ dataDir, region: REGION, accountId: ACCOUNT, enforceIam: false });
  const { QueueUrl } = await awsJson<{ QueueUrl: string }>(ministack, "sqs", "AmazonSQS.CreateQueue", { QueueName: QUEUE });
  const health = await freePort();
  const logFile = join(dataDir, "karpenter.log");
  const child = await startChild({
    name: "Karpenter",
    command: controller,
    args: [],
    logFile,
    env: {
      ...Object.fromEntries(["EC2", "SSM", "PRICING", "EKS", "IAM", "STS"].map((name) => [`AWS_ENDPOINT_URL_${name}`, fake.url])),
      AWS_ENDPOINT_URL_SQS: ministack.url,
      AWS_REGION: REGION,
      AWS_ACCESS_KEY_ID: ACCOUNT,
      AWS_SECRET_ACCESS_KEY: "test",
      AWS_EC2_METADATA_DISABLED: "true",
      PATH: process.env["PATH"],
      HOME: dataDir,
      KUBECONFIG: kubeconfigOf(stage),
      CLUSTER_NAME: CLUSTER,
      CLUSTER_ENDPOINT: cluster.server,
      INTERRUPTION_QUEUE: QUEUE,
      FEATURE_GATES: "SpotToSpotConsolidation=true",
      KARPENTER_SERVICE: "karpenter",
      SYSTEM_NAMESPACE: "karpenter",
      MEMORY_LIMIT: String(MEMORY_LIMIT),
      METRICS_PORT: String(await freePort()),
      HEALTH_PROBE_PORT: String(health),
      LOG_LEVEL: "debug",
      ...given,
    },
    isReady: async () => (await fetch(`http://127.0.0.1:${health}/readyz`)).ok,
  });
  return {
    name: "karpenter",
    isUser: (username) => username === USER,
    async usage() {
      const process = processesBelow(child.pid).find(({ command }) => command === controller);
      return { cpuSeconds: process?.cpuSeconds ?? Number.NaN, peakMb: process?.peakMb ?? Number.NaN };
    },
    logs: async () => [logFile],
    troubles: () => [],
    async notify(event) {
      await awsJson(ministack, "sqs", "AmazonSQS.SendMessage", { QueueUrl, MessageBody: JSON.stringify(event) });
    },
    async stop() {
      await Promise.all([child.stop(), ministack.stop()]);
    },
  };
}

/** The administrator's kubeconfig, which impersonates a user of its own, so that the audit log tells who asked. */
function kubeconfigOf({ cluster, dataDir }: Stage): string {
  const config = parse(readFileSync(cluster.kubeconfig, "utf8")) as { users: { user: Record<string, unknown> }[] };
  for (const { user } of config.users) Object.assign(user, { as: USER, "as-groups": ["system:masters"] });
  const file = join(dataDir, "karpenter.kubeconfig");
  writeFileSync(file, stringify(config));
  return file;
}
