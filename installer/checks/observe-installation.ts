import { isTokenOf } from "#adapters/lambda/path-token.ts";
import type { Pause } from "#core/model/pause.ts";
import { FUNCTIONS } from "#infra/functions.ts";
import { manifests } from "#infra/manifests.ts";
import { type ClusterObjects, clusterObjects } from "../account/objects.ts";
import type { InstallationPorts, KubeObject } from "../account/ports.ts";
import { partsOf } from "../account/stack-parts.ts";
import { notifyUrls } from "../account/webhook.ts";
import { objectsOf } from "../install/apply-manifests.ts";
import { type Facts, nodeRoleOf, type Observed, type Wanted } from "./facts.ts";
import { observe, observed } from "./observe-account.ts";
import { type LiveFacts, observeLive } from "./observe-live.ts";
import { observedPauses } from "./paused.ts";
import { type ServedFacts, servedFacts } from "./served-line.ts";

/** A quota of EC2 and how much of it is used, in vCPUs. */
export interface VcpuQuota {
  /** As in "on-demand". */
  readonly name: string;
  readonly code: string;
  readonly limit: Observed<number>;
  /** Undefined where CloudWatch has no figure, as of an account without such instances. */
  readonly used: Observed<number | undefined>;
}

/** An object of the manifests, and what the cluster has of it. */
export interface Applied {
  readonly wanted: KubeObject;
  readonly found: Observed<KubeObject | undefined>;
}

/** What is known of the webhook; the secret in its path is compared here and kept nowhere. */
interface WebhookFacts {
  readonly urls: readonly string[];
  /** Whether the path ends in the secret that the stack holds. */
  readonly hasToken: Observed<boolean>;
  /** The HTTP status of the function's URL for a wrong path. */
  readonly status: Observed<number>;
}

/** All that the checks of a doctor judge. */
export interface DoctorFacts extends Facts {
  readonly now: number;
  readonly objects: Observed<ClusterObjects>;
  readonly stackName: string;
  readonly served: Observed<ServedFacts>;
  readonly pauses: Observed<readonly Pause[]>;
  /** CRDs, ClusterRoles, Roles, bindings and FlowSchemas. */
  readonly applied: readonly Applied[];
  /** Undefined when no webhook is registered. */
  readonly webhook: Observed<WebhookFacts | undefined>;
  /** The type of the access entry of each function that talks to the cluster; undefined where there is none. */
  readonly functionEntries: readonly { readonly name: string; readonly arn: string; readonly type: Observed<string | undefined> }[];
  /** The roles that EC2NodeClasses name, with the type of their access entry. */
  readonly nodeRoles: readonly { readonly role: string; readonly facts: Pick<Facts, "cluster" | "eks" | "nodeRole" | "nodeEntry"> }[];
  readonly quotas: readonly VcpuQuota[];
  /** The age of the oldest message of each queue in s; undefined where CloudWatch has no figure. */
  readonly queueAges: readonly { readonly name: string; readonly age: Observed<number | undefined> }[];
  /** The most functions of the account that ran at once in the last hour; undefined where CloudWatch has no figure. */
  readonly concurrency: Observed<number | undefined>;
  readonly live: LiveFacts;
}

const HOUR_MS = 60 * 60_000;
const QUEUE_AGE_MS = 15 * 60_000;

const QUOTAS = [
  { name: "on-demand", code: "L-1216C47A", usage: "Standard/OnDemand" },
  { name: "spot", code: "L-34B43A08", usage: "Standard/Spot" },
] as const;

/** Asks an account and a cluster about an installation. Changes nothing, and rejects for no missing answer. */
export async function examine(
  { cluster, region, stackName }: { readonly cluster: string; readonly region: string; readonly stackName: string },
  ports: InstallationPorts,
): Promise<DoctorFacts> {
  const api = ports.clusterApi(cluster);
  const objects = await observed(clusterObjects(api));
  const roles = "value" in objects ? [...new Set(objects.value.classes.flatMap(({ role }) => role ?? []))] : [];
  const facts = await observe(cluster, region, wantedFor(cluster, stackName, roles), ports);
  const outputs = "value" in facts.stack ? (facts.stack.value?.outputs ?? {}) : {};
  const wanted = objectsOf(manifests({ cluster }));
  const entryOf = (arn: string) => observed(ports.account.accessEntryType(cluster, arn));
  const now = ports.now();
  const peak = async (namespace: string, name: string, dimensions: Readonly<Record<string, string>>, ms: number) => {
    const points = await ports.inspector.metric({ namespace, name, dimensions, statistic: "Maximum", since: now - ms });
    return points.length === 0 ? undefined : Math.max(...points.map(({ value }) => value));
  };
  const parts = await observed(ports.stacks.resources(stackName).then(partsOf));
  return {
    ...facts,
    ...{ now, objects, stackName },
    served: await servedFacts({ cluster, stackName }, facts.stack, ports),
    pauses: await observedPauses(cluster, facts.stack, ports),
    applied: await Promise.all(wanted.map(async (object) => ({ wanted: object, found: await observed(api.find(object)) }))),
    webhook: await observed(webhookFacts(outputs, ports, cluster)),
    functionEntries: await Promise.all(
      Object.entries(FUNCTIONS).flatMap(([name, { inClusters }]) => {
        const arn = outputs[`${name.charAt(0).toUpperCase()}${name.slice(1)}RoleArn`];
        return inClusters && arn !== undefined ? [entryOf(arn).then((type) => ({ name, arn, type }))] : [];
      }),
    ),
    nodeRoles: await Promise.all(
      roles.map(async (role) => {
        const nodeRole = await observed(ports.account.roleArn(nodeRoleOf(cluster, wantedFor(cluster, stackName, [role]))));
        const arn = "value" in nodeRole ? nodeRole.value : undefined;
        const nodeEntry = arn === undefined ? { value: undefined } : await entryOf(arn);
        return { role, facts: { cluster, eks: facts.eks, nodeRole, nodeEntry } };
      }),
    ),
    quotas: await Promise.all(
      QUOTAS.map(async ({ name, code, usage }) => {
        const dimensions = { Service: "EC2", Type: "Resource", Resource: "vCPU", Class: usage };
        const used = await observed(peak("AWS/Usage", "ResourceCount", dimensions, HOUR_MS));
        return { name, code, limit: await observed(ports.inspector.ec2Quota(code)), used };
      }),
    ),
    queueAges: await Promise.all(
      ("value" in parts ? parts.value.queues : []).map(async ({ name, url }) => {
        const QueueName = url.slice(url.lastIndexOf("/") + 1);
        return { name, age: await observed(peak("AWS/SQS", "ApproximateAgeOfOldestMessage", { QueueName }, QUEUE_AGE_MS)) };
      }),
    ),
    concurrency: await observed(peak("AWS/Lambda", "ConcurrentExecutions", {}, HOUR_MS)),
    live: await observeLive({ cluster, stackName, parts }, ports),
  };
}

/** What install's checks take as wanted, of an installation that is there. */
const wantedFor = (cluster: string, stackName: string, nodeRoles: readonly string[]): Wanted => ({
  ...{ stackName, createNodeRoles: false, publicUrl: "functionUrl", notifyConcurrency: 0, admissionConcurrency: 0, admission: false },
  clusters: [{ name: cluster, sources: ["sweep"], auditPattern: "json", ...(nodeRoles.length > 0 && { nodeRoles: [...nodeRoles] }) }],
});

async function webhookFacts(
  { NotifyUrl: url, NotifyTokenArn: arn }: Readonly<Record<string, string>>,
  { clusterApi, secret, inspector }: InstallationPorts,
  cluster: string,
): Promise<WebhookFacts | undefined> {
  const urls = await notifyUrls(clusterApi(cluster));
  if (urls === undefined) return undefined;
  const tokens = urls.map((one) => one.slice(one.lastIndexOf("/") + 1));
  return {
    urls: urls.map((one) => one.slice(0, one.lastIndexOf("/") + 1)),
    hasToken:
      arn === undefined
        ? { error: "the stack has no secret for it" }
        : await observed(secret(arn).then((text) => tokens.every((one) => isTokenOf(one, text, cluster)))),
    // A path without the secret is refused, which shows that the function answers, and wakes nothing.
    status:
      url === undefined
        ? { error: "the stack has no URL" }
        : await observed(inspector.get(`${url.replace(/\/$/, "")}/v1/${cluster}/doctor`)),
  };
}
