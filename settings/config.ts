import * as z from "zod/mini";
import { type ClusterConfig, clusterList } from "./cluster-list.ts";
import {
  decisionSettings,
  SETTINGS,
  type SettingName,
  type Settings,
  type SettingValue,
  type WiringSettings,
  wiringSettings,
} from "./setting-table.ts";
import { matching, optionalVariable, variable } from "./variables.ts";

/** URL by queue; absent for a queue that the function never sends to. */
export interface QueueUrls {
  readonly provision?: string;
  readonly claim?: string;
  readonly disruption?: string;
  readonly catalog?: string;
  /** Only the function that it invokes has it: EventBridge alone sends to this queue. */
  readonly interruption?: string;
}

/** Everything that a function reads from its environment. */
export interface Config extends WiringSettings {
  /** Where the functions run and launch instances; Lambda sets it. */
  readonly region: string;
  readonly tableName: string;
  /** The endpoint of Secrets Manager, where a local stand-in serves it. */
  readonly secretsEndpoint?: string;
  /** The endpoint of STS, where a local stand-in serves it. */
  readonly stsEndpoint?: string;
  readonly queues: QueueUrls;
  /** Never empty, names unique. */
  readonly clusters: readonly ClusterConfig[];
  /**
   * Last part of the notify function's path, or the ARN of the Secrets Manager secret that holds it; no other function
   * has it.
   */
  readonly notifyToken?: string;
  /** The same for the admission function's path; no other function has it. */
  readonly admissionToken?: string;
  /** The bearer token of the metrics function, or the ARN of its secret; no other function has it. */
  readonly metricsToken?: string;
  /** Whether what is counted is added up in the table, for the metrics function. */
  readonly sumMetrics: boolean;
  /** The EventBridge bus that announcements are sent to; none are when absent. */
  readonly eventBusName?: string;
  /** What decisions are made by. */
  readonly settings: Settings;
}

/** A deployment that cannot work. The message is one sentence that names the variable and says how to fix it. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
}

/** Variables that only some functions need; `parseConfig` requires those that it is given. */
export type RequiredVariable =
  | "PROVISION_QUEUE_URL"
  | "CLAIM_QUEUE_URL"
  | "DISRUPTION_QUEUE_URL"
  | "CATALOG_QUEUE_URL"
  | "NOTIFY_TOKEN"
  | "ADMISSION_TOKEN"
  | "METRICS_TOKEN";

const url = optionalVariable(matching("the queue's URL, as its stack output says", /^https?:\/\/\S+$/));

/** The text is a secret: the sentence must not repeat it. */
const token = z.optional(
  z
    .string()
    .check(
      z.regex(
        /^([A-Za-z0-9_-]{16,}|arn:[\w-]+:secretsmanager:\S+)?$/,
        "must be 16 or more letters, digits, - or _, or the ARN of a Secrets Manager secret; make one with: openssl rand -hex 24",
      ),
    ),
);

const rows = Object.entries(SETTINGS).map(([name, { read, fallback }]) => [name, variable<unknown>(read, fallback)]);
const settings = Object.fromEntries(rows) as { readonly [N in SettingName]: ReturnType<typeof variable<SettingValue<N>>> };

const environment = z.object({
  AWS_REGION: variable(matching("an AWS region such as us-west-2", /^[a-z]{2,}(-[a-z]+)+-\d+$/), "us-east-1"),
  AWS_ENDPOINT_URL: optionalVariable(matching("a URL", /^https?:\/\/\S+$/)),
  AWS_ENDPOINT_URL_SECRETS_MANAGER: optionalVariable(matching("a URL", /^https?:\/\/\S+$/)),
  AWS_ENDPOINT_URL_STS: optionalVariable(matching("a URL", /^https?:\/\/\S+$/)),
  TABLE_NAME: z
    .string({ error: "is missing; set it to the name of the DynamoDB table" })
    .check(z.regex(/^[A-Za-z0-9_.-]{3,255}$/, "is no DynamoDB table name; set it to the name that the stack's table has")),
  CLUSTERS: clusterList,
  PROVISION_QUEUE_URL: url,
  CLAIM_QUEUE_URL: url,
  DISRUPTION_QUEUE_URL: url,
  CATALOG_QUEUE_URL: url,
  INTERRUPTION_QUEUE_URL: url,
  NOTIFY_TOKEN: token,
  ADMISSION_TOKEN: token,
  METRICS_TOKEN: token,
  /** Set where the stack has the metrics function: the others add up what they count. */
  SUM_METRICS: optionalVariable(matching("true, or nothing", /^true$/)),
  EVENT_BUS_NAME: optionalVariable(
    matching('the name of an EventBridge bus of this account and region, such as "default"', /^[\w./-]{1,256}$/),
  ),
  ...settings,
});

/**
 * Reads a function's whole environment. An empty variable counts as one that is not set. Throws ConfigError with one
 * sentence about the first variable that is wrong, or missing and required.
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
      ? "the ARN of its Secrets Manager secret, as the stack does"
      : "the queue's URL, as its stack output says";
    throw new ConfigError(`${missing}: is missing; set it to ${wanted}.`);
  }
  const values = parsed.data;
  const { AWS_ENDPOINT_URL: anyEndpoint, AWS_ENDPOINT_URL_SECRETS_MANAGER: secretsEndpoint = anyEndpoint } = values;
  return {
    region: values.AWS_REGION,
    tableName: values.TABLE_NAME,
    ...(secretsEndpoint !== undefined && { secretsEndpoint }),
    ...(values.AWS_ENDPOINT_URL_STS !== undefined && { stsEndpoint: values.AWS_ENDPOINT_URL_STS }),
    queues: {
      ...(values.PROVISION_QUEUE_URL !== undefined && { provision: values.PROVISION_QUEUE_URL }),
      ...(values.CLAIM_QUEUE_URL !== undefined && { claim: values.CLAIM_QUEUE_URL }),
      ...(values.DISRUPTION_QUEUE_URL !== undefined && { disruption: values.DISRUPTION_QUEUE_URL }),
      ...(values.CATALOG_QUEUE_URL !== undefined && { catalog: values.CATALOG_QUEUE_URL }),
      ...(values.INTERRUPTION_QUEUE_URL !== undefined && { interruption: values.INTERRUPTION_QUEUE_URL }),
    },
    clusters: values.CLUSTERS,
    ...(values.NOTIFY_TOKEN ? { notifyToken: values.NOTIFY_TOKEN } : {}),
    ...(values.ADMISSION_TOKEN ? { admissionToken: values.ADMISSION_TOKEN } : {}),
    ...(values.METRICS_TOKEN ? { metricsToken: values.METRICS_TOKEN } : {}),
    sumMetrics: values.SUM_METRICS === "true",
    ...(values.EVENT_BUS_NAME !== undefined && { eventBusName: values.EVENT_BUS_NAME }),
    ...wiringSettings(values),
    settings: decisionSettings(values),
  };
}
