import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { DynamoDBClient, paginateScan } from "@aws-sdk/client-dynamodb";
import { Code } from "aws-cdk-lib/aws-lambda";
import { formatResources } from "../../core/model/quantity.ts";
import { instanceTypesOf } from "../../core/offerings/instance-types.ts";
import { allocatableOf } from "../../core/offerings/overhead.ts";
import { bundledCatalogue } from "../../functions/adapters/catalogue/bundled.ts";
import { makeApp } from "../../infra/app.ts";
import { bundleCode } from "../../infra/build.ts";
import { FUNCTION_NAMES } from "../../infra/functions.ts";
import { manifests } from "../../infra/manifests.ts";
import { parseSettings } from "../../infra/settings.ts";
import { regionCatalogue } from "./fake-aws/bundled-catalogue.ts";
import { type FakeAws, startFakeAws } from "./fake-aws/fake-aws.ts";
import type { FakeInstance } from "./fake-aws/world.ts";
import { startDynamoDbGate } from "./iam/dynamodb-gate.ts";
import { type Ledger, ledger, wordRefusal } from "./iam/ledger.ts";
import { questionsOf } from "./iam/questions.ts";
import { policiesByFunction } from "./iam/template-policies.ts";
import { type AuditShipper, startAuditShipper } from "./support/audit-shipper.ts";
import { awsJson } from "./support/aws-call.ts";
import { removeDir } from "./support/child.ts";
import { startCluster, type TestCluster } from "./support/cluster.ts";
import { clusterIdentities, deployedFunctions, deployTemplate, readSynthesized } from "./support/deploy.ts";
import { copyTables, type DynamoDbLocal, startDynamoDbLocal } from "./support/dynamodb-local.ts";
import { type FunctionUrlGateway, startFunctionUrlGateway } from "./support/function-url.ts";
import { type MiniStack, startMiniStack } from "./support/ministack.ts";

export const CLUSTER = "e2e";
export const REGION = "us-west-2";
export const STACK = "karpenter-serverless";
const ACCOUNT = "111122223333";
const NOTIFY_TOKEN = "0123456789abcdef0123456789abcdef";

/** An event of AWS for the default event bus. */
export interface BusEvent {
  readonly source: string;
  readonly "detail-type": string;
  readonly detail: object;
  readonly resources: readonly string[];
}

/** What a story uses: the API server, the deployed functions with their queues and table, and the fake EC2. */
export interface E2eWorld {
  readonly cluster: TestCluster;
  readonly fake: FakeAws;
  readonly ministack: MiniStack;
  readonly dataDir: string;
  readonly outputs: Readonly<Record<string, string>>;
  /**
   * The functions' AWS calls, authorized by their roles' policies: a call without permission is refused and recorded.
   */
  readonly permissions: Ledger;
  /** Instance id → why the instance could not boot, for example wrong user data. */
  readonly bootFailures: ReadonlyMap<string, string>;
  /** Sources of wake-ups besides the sweep, each switched on separately. */
  listenToAudit(): Promise<void>;
  stopListening(): Promise<void>;
  registerWebhook(): Promise<void>;
  removeWebhook(): Promise<void>;
  putEvents(events: readonly BusEvent[]): Promise<void>;
  /** The number of items of the table whose sort key begins with `prefix`. */
  items(prefix: string): Promise<number>;
  stop(): Promise<void>;
}

export async function startWorld(): Promise<E2eWorld> {
  const dataDir = mkdtempSync(join(tmpdir(), "karpenter-serverless-e2e-"));
  const bootFailures = new Map<string, string>();
  let cluster: TestCluster | undefined;
  const boot = bootstrap(bootFailures, () => cluster);
  const permissions = ledger();
  const fake = await startFakeAws({
    catalogue: regionCatalogue(REGION),
    cluster: { name: CLUSTER, version: "1.36", serviceCidr: "10.96.0.0/16" },
    bootDelayMs: 1_000,
    terminateDelayMs: 1_000,
    // EC2 gives two minutes. A busy machine may need more; the story prints the time that it took.
    noticeMs: 15 * 60_000,
    identify: (accessKey) => permissions.nameOf(accessKey) ?? accessKey,
    authorize(call, world) {
      const refusal = permissions.judge(call.accessKey, questionsOf(world, call));
      return refusal && wordRefusal(refusal);
    },
    onRunning: boot,
    onTerminated: async (instance) => {
      await cluster?.halt({ providerID: `aws:///${instance.zone}/${instance.id}` }).catch(() => {});
    },
    onEvent: async (event) => {
      await putEvents(ministack, [event]).catch((error: unknown) => bootFailures.set("PutEvents", String(error)));
    },
  });
  const dynamodb: DynamoDbLocal = await startDynamoDbLocal({ dataDir });
  const place = { account: ACCOUNT, region: REGION };
  const gate = await startDynamoDbGate({ target: dynamodb.url, ledger: permissions, place });
  const services = ["EC2", "SSM", "PRICING", "EKS", "IAM"].map((name) => [`AWS_ENDPOINT_URL_${name}`, fake.url]);
  const ministack = await startMiniStack({
    dataDir,
    region: REGION,
    accountId: ACCOUNT,
    env: { ...Object.fromEntries(services), AWS_ENDPOINT_URL_DYNAMODB: gate.url },
  });
  cluster = await startCluster({ dataDir: join(dataDir, "cluster"), clusterName: CLUSTER });
  const { server, caData } = cluster;
  Object.assign(fake.cluster, { endpoint: server, caData });
  // The log group must exist before the subscription; EKS creates it when logging is enabled.
  let shipper: AuditShipper | undefined = await startAuditShipper({
    target: ministack,
    auditLog: cluster.auditLog,
    clusterName: CLUSTER,
    drop: () => true,
  });
  await cluster.kubectl("apply", "--server-side", "-f", "-", { input: manifests({ cluster: CLUSTER }) });
  await cluster.kubectl("wait", "--for=condition=Established", "crd", "--all", "--timeout=300s");
  const table = new DynamoDBClient({
    endpoint: dynamodb.url,
    region: REGION,
    credentials: { accessKeyId: "local", secretAccessKey: "local" },
  });
  const { outputs, template } = await deploy(dataDir, ministack);
  const policies = policiesByFunction(template, place);
  permissions.know(
    (await deployedFunctions(ministack)).map(({ name, credentials: { accessKeyId } }) => ({
      ...{ name, accessKey: accessKeyId, statements: policies.get(name) ?? [] },
    })),
  );
  await copyTables({ from: ministack, dynamodb });
  await cluster.setIdentities(await clusterIdentities(ministack, CLUSTER));
  let gateway: FunctionUrlGateway | undefined;
  const stopShipper = async (): Promise<void> => {
    const running = shipper;
    shipper = undefined;
    await running?.stop();
  };
  await stopShipper();
  const running = cluster;
  return {
    ...{ cluster: running, fake, ministack, dataDir, outputs, permissions, bootFailures },
    async listenToAudit() {
      const began = new Date().toISOString();
      // A new listener receives only events from now on.
      const drop = (line: string): boolean => (JSON.parse(line) as { stageTimestamp: string }).stageTimestamp < began;
      shipper = await startAuditShipper({ target: ministack, auditLog: running.auditLog, clusterName: CLUSTER, drop });
    },
    stopListening: stopShipper,
    async registerWebhook() {
      gateway = await startFunctionUrlGateway({ ministackUrl: ministack.url, functionUrl: outputs["NotifyUrl"] ?? "", cluster: running });
      const input = manifests({ cluster: CLUSTER, notifyUrl: gateway.url, notifyToken: NOTIFY_TOKEN, caBundle: gateway.caBundle });
      await running.kubectl("apply", "--server-side", "-f", "-", { input });
    },
    async removeWebhook() {
      await running.kubectl("delete", "validatingwebhookconfigurations", "--all");
      await gateway?.stop();
    },
    putEvents: (events) => putEvents(ministack, events),
    async items(prefix) {
      // The catalogue alone may fill a page, so all pages are read.
      let found = 0;
      for await (const { Items = [] } of paginateScan({ client: table }, { TableName: STACK, ProjectionExpression: "sk" })) {
        found += Items.filter(({ sk }) => sk?.S?.startsWith(prefix)).length;
      }
      return found;
    },
    async stop() {
      // A part that fails to stop must not keep the others running; the first failure is thrown after all have been
      // stopped.
      const stopped = await Promise.allSettled([stopShipper(), gateway?.stop()]);
      stopped.push(...(await Promise.allSettled([running.stop(), ministack.stop(), gate.stop(), dynamodb.stop(), fake.close()])));
      removeDir(dataDir);
      for (const outcome of stopped) if (outcome.status === "rejected") throw outcome.reason;
    },
  };
}

/** Boots an instance that becomes running: it reads its user data and joins with the resources of its type. */
function bootstrap(failures: Map<string, string>, clusterNow: () => TestCluster | undefined) {
  const catalogue = bundledCatalogue(REGION);
  const zones = catalogue.zones.map(({ name, zoneId }) => ({ id: name, zone: name, zoneID: zoneId }));
  const nodeClass = {
    spec: { amiSelectorTerms: [{ alias: "al2023@latest" }], subnetSelectorTerms: [], securityGroupSelectorTerms: [] },
    status: { subnets: zones },
  };
  const types = new Map(
    instanceTypesOf({ catalogue, nodeClass, unavailable: [], settings: { vmMemoryOverheadPercent: 0.075, reservedEnis: 0 } }).map(
      (type) => [type.name, type],
    ),
  );
  return async (instance: FakeInstance): Promise<void> => {
    const type = types.get(instance.instanceType);
    if (type === undefined) {
      failures.set(instance.id, `nobody knows what a ${instance.instanceType} has`);
      return;
    }
    const allocatable = formatResources(allocatableOf(type));
    const tryToJoin = async (): Promise<unknown> =>
      clusterNow()?.boot({
        instanceId: instance.id,
        zone: instance.zone,
        region: REGION,
        instanceType: instance.instanceType,
        architecture: type.requirements.some(({ key, values }) => key === "kubernetes.io/arch" && values?.includes("arm64"))
          ? "arm64"
          : "amd64",
        capacity: withoutZeros(type.capacity),
        allocatable: withoutZeros(allocatable),
        privateDnsName: instance.privateDnsName,
        userData: instance.userData,
        readyAfter: "1s",
      });
    // A kubelet retries while its instance runs, because its name may still belong to the Node of an instance with the
    // same address.
    while (instance.state === "running") {
      try {
        await tryToJoin();
        failures.delete(instance.id);
        return;
      } catch (error) {
        failures.set(instance.id, error instanceof Error ? error.message : String(error));
      }
      await sleep(2_000, undefined, { ref: false });
    }
  };
}

function withoutZeros(list: Readonly<Record<string, string | number>>): Record<string, string> {
  return Object.fromEntries(Object.entries(list).flatMap(([name, value]) => (String(value) === "0" ? [] : [[name, String(value)]])));
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

/** Bundles, synthesises and deploys the product's own stack. */
async function deploy(dataDir: string, ministack: MiniStack) {
  const dist = join(dataDir, "dist");
  for (const name of FUNCTION_NAMES) await bundleCode(name, dist);
  const settings = parseSettings(
    {
      stackName: STACK,
      clusters: [{ name: CLUSTER, sources: ["audit", "notify", "sweep"] }],
      architecture: "x86_64",
      ephemeral: true,
      enforceTls: false,
      notifyConcurrency: 0,
      settings: { LOG_LEVEL: "debug", FEATURE_GATES: "SpotToSpotConsolidation=true" },
    },
    "the end-to-end run",
  );
  const outDir = join(dataDir, "cdk.out");
  makeApp({ settings, outDir, code: (name) => Code.fromAsset(join(dist, name), { exclude: ["*.map"] }) }).app.synth();
  const { template, assets } = readSynthesized(outDir, STACK, ministack);
  const outputs = await deployTemplate({
    target: ministack,
    stackName: STACK,
    template,
    assets,
    parameters: { NotifyToken: NOTIFY_TOKEN },
  });
  return { outputs, template };
}
