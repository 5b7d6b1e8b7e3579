import { join } from "node:path";
import { Code } from "aws-cdk-lib/aws-lambda";
import { makeApp } from "#infra/app.ts";
import { bundleCode } from "#infra/build.ts";
import { FUNCTION_NAMES } from "#infra/functions.ts";
import { manifests } from "#infra/manifests.ts";
import { parseSettings } from "#infra/settings.ts";
import { webhooksOf } from "#infra/stack-webhooks.ts";
import { ACCOUNT, CLUSTER, REGION, type Stage } from "./stage.ts";
import { type AuditShipper, startAuditShipper } from "./support/audit-shipper.ts";
import { awsJson } from "./support/aws-call.ts";
import type { ClusterIdentity } from "./support/cluster.ts";
import { clusterIdentities, deployTemplate, physicalNames, readSynthesized, type Template } from "./support/deploy.ts";
import { copyTables, type DynamoDbLocal, startDynamoDbLocal } from "./support/dynamodb-local.ts";
import { type FunctionUrlGateway, startFunctionUrlGateway } from "./support/function-url.ts";
import { type MiniStack, startMiniStack } from "./support/ministack.ts";
import { limitPollers } from "./support/pollers.ts";

// The product's own stack on MiniStack and DynamoDB Local, with access to the cluster of a stage.

export const STACK = "karpenter-serverless";

/** An event of AWS for the default event bus. */
export interface BusEvent {
  readonly source: string;
  readonly "detail-type": string;
  readonly detail: object;
  readonly resources: readonly string[];
}

export interface Deployment {
  readonly ministack: MiniStack;
  readonly dynamodb: DynamoDbLocal;
  readonly outputs: Readonly<Record<string, string>>;
  /** The names that CloudFormation gave to the stack's resources, by their logical ids. */
  readonly names: Readonly<Record<string, string>>;
  /** The functions' users in the cluster. */
  readonly identities: readonly ClusterIdentity[];
  /** Sources of wake-ups besides the sweep, each switched on separately. */
  listenToAudit(): Promise<void>;
  stopListening(): Promise<void>;
  /** Registers the webhook at a gateway of the function URL; default: one that forwards to MiniStack. */
  registerWebhook(gateway?: FunctionUrlGateway): Promise<void>;
  removeWebhook(): Promise<void>;
  putEvents(events: readonly BusEvent[]): Promise<void>;
  stop(): Promise<void>;
}

/** What stands between the functions and the database. */
export interface Gate {
  readonly url: string;
  readonly stop: () => Promise<void>;
}

export async function startDeployment({
  stage,
  bundles,
  gateOf,
  onDeployed,
}: {
  readonly stage: Stage;
  /** The folder that `bundleFunctions` has filled. */
  readonly bundles: string;
  /** Default: the functions call the database directly. */
  readonly gateOf?: (database: DynamoDbLocal) => Promise<Gate>;
  /** Called before the functions have access to the cluster. */
  readonly onDeployed?: (template: Template, ministack: MiniStack, names: Deployment["names"]) => Promise<void>;
}): Promise<Deployment> {
  const { cluster, fake, dataDir } = stage;
  const dynamodb = await startDynamoDbLocal({ dataDir });
  const gate = await gateOf?.(dynamodb);
  const services = ["EC2", "SSM", "PRICING", "EKS", "IAM"].map((name) => [`AWS_ENDPOINT_URL_${name}`, fake.url]);
  const ministack = await startMiniStack({
    dataDir,
    region: REGION,
    accountId: ACCOUNT,
    env: { ...Object.fromEntries(services), AWS_ENDPOINT_URL_DYNAMODB: gate?.url ?? dynamodb.url },
  });
  const ship = (drop: (line: string) => boolean): Promise<AuditShipper> =>
    startAuditShipper({ target: ministack, auditLog: cluster.auditLog, clusterName: CLUSTER, drop });
  // The log group must exist before the subscription; EKS creates it when logging is enabled.
  let shipper: AuditShipper | undefined = await ship(() => true);
  const clusters = [cluster, ...stage.others];
  for (const { kubectl, clusterName } of clusters) {
    await kubectl("apply", "--server-side", "-f", "-", { input: manifests({ cluster: clusterName }) });
    await kubectl("wait", "--for=condition=Established", "crd", "--all", "--timeout=300s");
  }
  const { outputs, template } = await deploy(stage, bundles, ministack);
  // A cluster that hangs keeps its readers waiting for nearly a minute: Lambda would have added others by then.
  if (stage.others.length === 0) await limitPollers(ministack);
  const names = await physicalNames(ministack, STACK);
  await onDeployed?.(template, ministack, names);
  await copyTables({ from: ministack, dynamodb });
  const identities = await clusterIdentities(ministack, CLUSTER);
  await cluster.setIdentities(identities);
  for (const other of stage.others) await other.setIdentities(await clusterIdentities(ministack, other.clusterName));
  const gateways: FunctionUrlGateway[] = [];
  const stopListening = async (): Promise<void> => {
    const running = shipper;
    shipper = undefined;
    await running?.stop();
  };
  await stopListening();
  const stopGateways = async (): Promise<void> => {
    for (const gateway of gateways.splice(0)) await gateway.stop();
  };
  return {
    ...{ ministack, dynamodb, outputs, names, identities, stopListening },
    async listenToAudit() {
      const began = new Date().toISOString();
      // A new listener receives only events from now on.
      shipper = await ship((line) => (JSON.parse(line) as { stageTimestamp: string }).stageTimestamp < began);
    },
    async registerWebhook(given) {
      const webhooks = await webhooksOf(STACK, REGION, { endpoint: ministack.url, credentials: ministack.credentials });
      const functionUrl = outputs["NotifyUrl"] ?? "";
      for (const one of clusters) {
        const gateway = given ?? (await startFunctionUrlGateway({ ministackUrl: ministack.url, functionUrl, cluster: one }));
        gateways.push(gateway);
        const input = manifests({ cluster: one.clusterName, ...webhooks, notifyUrl: gateway.url, caBundle: gateway.caBundle });
        await one.kubectl("apply", "--server-side", "-f", "-", { input });
      }
    },
    async removeWebhook() {
      for (const { kubectl } of clusters) await kubectl("delete", "validatingwebhookconfigurations", "--all");
      await stopGateways();
    },
    putEvents: (events) => putEvents(ministack, events),
    async stop() {
      // A part that fails to stop must not keep the others running; the first failure is thrown after all have been
      // stopped.
      const stopped = await Promise.allSettled([stopListening(), stopGateways()]);
      stopped.push(...(await Promise.allSettled([ministack.stop(), gate?.stop(), dynamodb.stop()])));
      for (const outcome of stopped) if (outcome.status === "rejected") throw outcome.reason;
    },
  };
}

/** Sends events to the account's default bus as AWS does; PutEvents accepts ten a call. */
async function putEvents(target: MiniStack, events: readonly BusEvent[]): Promise<void> {
  const entries = events.map((event) => ({
    Source: event.source,
    DetailType: event["detail-type"],
    Detail: JSON.stringify(event.detail),
    Resources: event.resources,
  }));
  const batches = Array.from({ length: Math.ceil(entries.length / 10) }, (_, i) => entries.slice(10 * i, 10 * i + 10));
  await Promise.all(batches.map((Entries) => awsJson(target, "events", "AWSEvents.PutEvents", { Entries })));
}

/** Bundles all functions into a folder, and returns the folder. */
export async function bundleFunctions(dir: string): Promise<string> {
  for (const name of FUNCTION_NAMES) await bundleCode(name, dir);
  return dir;
}

/** Synthesises and deploys the product's own stack. */
async function deploy({ dataDir, others }: Stage, bundles: string, ministack: MiniStack) {
  const settings = parseSettings(
    {
      stackName: STACK,
      clusters: [
        { name: CLUSTER, sources: ["audit", "notify", "sweep"] },
        ...others.map(({ clusterName }) => ({ name: clusterName, sources: ["notify", "sweep"] })),
      ],
      architecture: "x86_64",
      ephemeral: true,
      enforceTls: false,
      // From two on, so that the stories launch some together.
      settings: { LOG_LEVEL: "debug", FEATURE_GATES: "SpotToSpotConsolidation=true", LAUNCH_TOGETHER: "2" },
    },
    "the end-to-end run",
  );
  const outDir = join(dataDir, "cdk.out");
  makeApp({ settings, outDir, code: (name) => Code.fromAsset(join(bundles, name), { exclude: ["*.map"] }) }).app.synth();
  const { template, assets } = readSynthesized(outDir, STACK, ministack);
  const outputs = await deployTemplate({ target: ministack, stackName: STACK, template, assets });
  return { outputs, template };
}
