import * as z from "zod/mini";
import { readSchedulerConfig, type SchedulerConfig } from "../../core/scheduling/rules/scheduler-config.ts";
import { type ClusterConfig, clusterList } from "./cluster-list.ts";
import { atLeast, bool, duration, durationOrNone, oneOf, setting } from "./variables.ts";

/** Feature gates that have an effect, by their upstream names. */
export interface FeatureGates {
  readonly CapacityBuffer: boolean;
  readonly NodeOverlay: boolean;
  readonly NodeRepair: boolean;
  readonly ReservedCapacity: boolean;
  readonly SpotToSpotConsolidation: boolean;
  readonly StaticCapacity: boolean;
}

/** URL by queue; a function that never sends to a queue need not know it. */
export interface QueueUrls {
  readonly provision?: string;
  readonly claim?: string;
  readonly disruption?: string;
  readonly catalog?: string;
}

/** Everything that the environment tells a function. */
export interface Config {
  /** Where the functions run, and buy; Lambda sets it. */
  readonly region: string;
  readonly tableName: string;
  /** Of STS, where a local stand-in serves it. */
  readonly stsEndpoint?: string;
  readonly queues: QueueUrls;
  /** Never empty, names unique. */
  readonly clusters: readonly ClusterConfig[];
  /** Last part of the notify function's path; it alone has one. */
  readonly notifyToken?: string;
  /** The secret part of the admission function's path; it alone has one. */
  readonly admissionToken?: string;
  /** EventBridge bus that hears what was done and why; nobody does when absent. */
  readonly eventBusName?: string;
  readonly logLevel: "debug" | "info" | "error";
  readonly featureGates: FeatureGates;
  /** Share of an instance's memory that the hypervisor keeps, 0.075 for 7.5 %. */
  readonly vmMemoryOverheadPercent: number;
  readonly reservedEnis: number;
  readonly preferencePolicy: "Respect" | "Ignore";
  readonly minValuesPolicy: "Strict" | "BestEffort";
  readonly schedulerConfig: SchedulerConfig;
  /** Within this time, in milliseconds, a saving must have repaid its disruption; undefined ("none") asks for no such thing. */
  readonly consolidationHorizonMs: number | undefined;
  /** What moving one pod of eviction cost 1 counts as, in USD. */
  readonly podMoveCost: number;
  /** No endpoint of the Price List API and of IAM can be reached. */
  readonly isolatedVpc: boolean;
  /** Zones that ARC shifts traffic away from get no new nodes. */
  readonly zonalShift: boolean;
  /** How long images that were found stay good, ms. */
  readonly amiRefreshMs: number;
  /** The same of subnets. */
  readonly subnetRefreshMs: number;
  /** How long pods are waited for once one has come, and how long at most, ms. */
  readonly batchIdleMs: number;
  readonly batchMaxMs: number;
  /** Requests to one API server: so many a second, and so many at once. */
  readonly kubeClient: { readonly qps: number; readonly burst: number };
}

/** A deployment that cannot work. The message is one sentence that names the variable and says how to mend it. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
}

/** Names of variables that only some functions need; `parseConfig` insists on those it is given. */
export type RequiredVariable =
  | "PROVISION_QUEUE_URL"
  | "CLAIM_QUEUE_URL"
  | "DISRUPTION_QUEUE_URL"
  | "CATALOG_QUEUE_URL"
  | "NOTIFY_TOKEN"
  | "ADMISSION_TOKEN";

/** What holds for a gate that FEATURE_GATES does not name. */
export const DEFAULT_GATES: FeatureGates = {
  CapacityBuffer: false,
  NodeOverlay: false,
  NodeRepair: false,
  ReservedCapacity: true,
  SpotToSpotConsolidation: false,
  StaticCapacity: false,
};

const url = setting<string | undefined>(undefined, "the queue's URL, as its stack output says", (text) =>
  /^https?:\/\/\S+$/.test(text) ? text : undefined,
);

/** Unknown gates are ignored, as upstream does; a malformed list is not. */
function readGates(text: string): FeatureGates | undefined {
  const gates: Record<string, boolean> = {};
  for (const part of text.split(",").filter((item) => item.trim() !== "")) {
    const [, name, value] = /^\s*([A-Za-z]+)\s*=\s*(true|false)\s*$/.exec(part) ?? [];
    if (name === undefined) {
      return undefined;
    }
    gates[name] = value === "true";
  }
  const known = Object.keys(DEFAULT_GATES).filter((name) => name in gates);
  return { ...DEFAULT_GATES, ...Object.fromEntries(known.map((name) => [name, gates[name]])) };
}

/** The text itself is a secret: the sentence must not repeat it. */
const token = z.optional(
  z.string().check(z.regex(/^([A-Za-z0-9_-]{16,})?$/, "must be 16 or more letters, digits, - or _; make one with: openssl rand -hex 24")),
);

/** YAML is turned into JSON when the stack is made: no function needs a reader of YAML for it. */
const schedulerConfig = z.pipe(
  z._default(z.string(), ""),
  z.transform((text: string, context): SchedulerConfig => {
    const refuse = (message: string): never => {
      context.issues.push({ code: "custom", input: text, message });
      return z.NEVER;
    };
    if (text === "") return { defaultConstraints: [] };
    let json: unknown;
    try {
      json = JSON.parse(text);
    } catch {
      return refuse('is not JSON; set it to JSON such as {"podTopologySpread":{"defaultConstraints":[…]}}');
    }
    const config = readSchedulerConfig(json);
    return "problem" in config ? refuse(config.problem) : config;
  }),
);

const environment = z.object({
  AWS_REGION: setting("us-east-1", "an AWS region such as us-west-2", (text) =>
    /^[a-z]{2,}(-[a-z]+)+-\d+$/.test(text) ? text : undefined,
  ),
  AWS_ENDPOINT_URL_STS: setting<string | undefined>(undefined, "a URL", (text) => (/^https?:\/\/\S+$/.test(text) ? text : undefined)),
  TABLE_NAME: z
    .string({ error: "is missing; set it to the name of the DynamoDB table" })
    .check(z.regex(/^[A-Za-z0-9_.-]{3,255}$/, "is no DynamoDB table name; set it to the name that the stack's table has")),
  CLUSTERS: clusterList,
  PROVISION_QUEUE_URL: url,
  CLAIM_QUEUE_URL: url,
  DISRUPTION_QUEUE_URL: url,
  CATALOG_QUEUE_URL: url,
  NOTIFY_TOKEN: token,
  ADMISSION_TOKEN: token,
  EVENT_BUS_NAME: setting<string | undefined>(
    undefined,
    'the name of an EventBridge bus of this account and region, such as "default"',
    (text) => (/^[\w./-]{1,256}$/.test(text) ? text : undefined),
  ),
  LOG_LEVEL: oneOf(["debug", "info", "error"], "info"),
  FEATURE_GATES: setting(DEFAULT_GATES, "a list such as SpotToSpotConsolidation=true,NodeRepair=false", readGates),
  VM_MEMORY_OVERHEAD_PERCENT: atLeast(0, 0.075, false),
  RESERVED_ENIS: atLeast(0, 0, true),
  PREFERENCE_POLICY: oneOf(["Respect", "Ignore"], "Respect"),
  MIN_VALUES_POLICY: oneOf(["Strict", "BestEffort"], "Strict"),
  SCHEDULER_CONFIG: schedulerConfig,
  CONSOLIDATION_HORIZON: durationOrNone(24 * 3_600_000),
  CONSOLIDATION_POD_COST: atLeast(0, 0.001, false),
  ISOLATED_VPC: bool(false),
  ENABLE_ZONAL_SHIFT: bool(false),
  AMI_REFRESH_INTERVAL: duration(60_000, "1m", "24h"),
  SUBNET_REFRESH_INTERVAL: duration(60_000, "1m", "24h"),
  // After five minutes SQS takes a wake-up for another one.
  BATCH_IDLE_DURATION: duration(1_000, "0s", "5m"),
  BATCH_MAX_DURATION: duration(10_000, "0s", "5m"),
  KUBE_CLIENT_QPS: atLeast(1, 200, false),
  KUBE_CLIENT_BURST: atLeast(1, 300, true),
  // Devices are not planned for: a pod that asks for some is told so, and "false" would be a promise.
  IGNORE_DRA_REQUESTS: setting("true", "true, since no node is planned for pods that claim devices", (text) =>
    text === "true" ? text : undefined,
  ),
});

/** Settings that a person may give, in place of those that the stack itself fills in. */
export const SETTING_NAMES: readonly string[] = Object.keys(environment.shape).filter(
  (name) => !["TABLE_NAME", "CLUSTERS", "EVENT_BUS_NAME"].includes(name) && !/^AWS_|_(QUEUE_URL|TOKEN)$/.test(name),
);

/** Seconds that the queue holds a wake-up for pods back: the batching window. SQS counts whole ones, and one is needed to fold those of a moment. */
export function batchSeconds({ batchIdleMs, batchMaxMs }: Pick<Config, "batchIdleMs" | "batchMaxMs">): number {
  return Math.max(1, Math.ceil(Math.min(batchIdleMs, batchMaxMs) / 1_000));
}

/**
 * Reads a function's whole environment (names and defaults are those of Karpenter's settings where it has them).
 * An empty variable counts as one that is not set. Throws ConfigError with one sentence about the first thing that is wrong.
 */
export function parseConfig(env: Readonly<Record<string, string | undefined>>, required: readonly RequiredVariable[] = []): Config {
  const parsed = environment.safeParse(env);
  if (!parsed.success) {
    const issue = parsed.error.issues[0];
    throw new ConfigError(`${String(issue?.path[0] ?? "The environment")}: ${issue?.message ?? "is wrong"}.`);
  }
  const missing = required.find((name) => !parsed.data[name]);
  if (missing !== undefined) {
    const wanted = missing.endsWith("_TOKEN")
      ? "a random text of 16 or more letters and digits"
      : "the queue's URL, as its stack output says";
    throw new ConfigError(`${missing}: is missing; set it to ${wanted}.`);
  }
  const values = parsed.data;
  return {
    region: values.AWS_REGION,
    tableName: values.TABLE_NAME,
    ...(values.AWS_ENDPOINT_URL_STS !== undefined && { stsEndpoint: values.AWS_ENDPOINT_URL_STS }),
    queues: {
      ...(values.PROVISION_QUEUE_URL !== undefined && { provision: values.PROVISION_QUEUE_URL }),
      ...(values.CLAIM_QUEUE_URL !== undefined && { claim: values.CLAIM_QUEUE_URL }),
      ...(values.DISRUPTION_QUEUE_URL !== undefined && { disruption: values.DISRUPTION_QUEUE_URL }),
      ...(values.CATALOG_QUEUE_URL !== undefined && { catalog: values.CATALOG_QUEUE_URL }),
    },
    clusters: values.CLUSTERS,
    ...(values.NOTIFY_TOKEN ? { notifyToken: values.NOTIFY_TOKEN } : {}),
    ...(values.ADMISSION_TOKEN ? { admissionToken: values.ADMISSION_TOKEN } : {}),
    ...(values.EVENT_BUS_NAME !== undefined && { eventBusName: values.EVENT_BUS_NAME }),
    logLevel: values.LOG_LEVEL,
    featureGates: values.FEATURE_GATES,
    vmMemoryOverheadPercent: values.VM_MEMORY_OVERHEAD_PERCENT,
    reservedEnis: values.RESERVED_ENIS,
    preferencePolicy: values.PREFERENCE_POLICY,
    minValuesPolicy: values.MIN_VALUES_POLICY,
    schedulerConfig: values.SCHEDULER_CONFIG,
    consolidationHorizonMs: values.CONSOLIDATION_HORIZON,
    podMoveCost: values.CONSOLIDATION_POD_COST,
    isolatedVpc: values.ISOLATED_VPC,
    zonalShift: values.ENABLE_ZONAL_SHIFT,
    amiRefreshMs: values.AMI_REFRESH_INTERVAL,
    subnetRefreshMs: values.SUBNET_REFRESH_INTERVAL,
    batchIdleMs: values.BATCH_IDLE_DURATION,
    batchMaxMs: values.BATCH_MAX_DURATION,
    kubeClient: { qps: values.KUBE_CLIENT_QPS, burst: values.KUBE_CLIENT_BURST },
  };
}
