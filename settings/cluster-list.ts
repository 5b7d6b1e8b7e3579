import * as z from "zod/mini";
import type { ClusterRecordState, ClusterRoles } from "#core/model/cluster-record.ts";

/** Where wake-ups of a cluster may come from. The sweep is always on, so a cluster may name no source. */
export type WakeUpSource = "audit" | "notify" | "sweep";

export interface ClusterConfig {
  readonly name: string;
  readonly sources: readonly WakeUpSource[];
  /** "https://…"; from eks:DescribeCluster when absent. */
  readonly endpoint?: string;
  /** PEM in base64; from eks:DescribeCluster when absent. */
  readonly caBundle?: string;
  /** The log group of its audit records; /aws/eks/NAME/cluster when absent. */
  readonly logGroup?: string;
  /** The role that reaches a cluster in another account. */
  readonly roleArn?: string;
  /** The external ID that the role's trust policy asks for. */
  readonly externalId?: string;
  /** The roles that reach what a cluster of this account has in AWS, where it was added in the table. */
  readonly roles?: ClusterRoles;
  /** Of a cluster with a record; one without is served. */
  readonly state?: Exclude<ClusterRecordState, "left">;
}

const text = (pattern: RegExp, error: string) => z.string({ error }).check(z.regex(pattern, error));

// zod/mini has no error sentences of its own, so each part states what it expects.
const cluster = z.strictObject(
  {
    name: text(/^[0-9A-Za-z][A-Za-z0-9_-]{0,99}$/, "must be an EKS cluster's name"),
    sources: z._default(
      z.array(z.enum(["audit", "notify", "sweep"], { error: 'knows only "audit", "notify" and "sweep"' }), { error: "must be a list" }),
      ["sweep"],
    ),
    endpoint: z.optional(text(/^https:\/\/\S+$/, "must start with https://")),
    caBundle: z.optional(text(/^[A-Za-z0-9+/=\s]+$/, "must be PEM in base64")),
    logGroup: z.optional(text(/^[\w#./-]{1,512}$/, "must be the name of a log group")),
    roleArn: z.optional(text(/^arn:[\w-]+:iam::\d{12}:role\/[\w+=,.@/-]+$/, "must be the ARN of an IAM role")),
    externalId: z.optional(text(/^[\w+=,.@:/-]{2,256}$/, "must have 2 to 256 letters, digits and +=,.@:/-_")),
  },
  {
    error: (issue) => (issue.code === "unrecognized_keys" ? `does not know ${JSON.stringify(issue.keys.join(", "))}` : "must be an object"),
  },
);

const CLUSTERS_HINT = 'set it to JSON such as [{"name":"my-cluster","sources":["audit","sweep"]}]';

/** Reads the variable CLUSTERS: a list in JSON, never empty, with unique names. */
export const clusterList = z.pipe(
  z._default(z.string(), ""),
  z.transform((text: string, context): readonly ClusterConfig[] => {
    const refuse = (message: string): never => {
      context.issues.push({ code: "custom", input: text, message });
      return z.NEVER;
    };
    let json: unknown;
    try {
      json = JSON.parse(text);
    } catch {
      return refuse(text === "" ? `is missing; ${CLUSTERS_HINT}` : `is not JSON; ${CLUSTERS_HINT}`);
    }
    const parsed = z.array(cluster, { error: "is not a list" }).check(z.minLength(1, "names no cluster")).safeParse(json);
    if (!parsed.success) {
      const issue = parsed.error.issues[0];
      const where = (issue?.path ?? []).map((part) => (typeof part === "number" ? `[${part}]` : `.${String(part)}`)).join("");
      return refuse(`${where} ${issue?.message ?? "is wrong"}; ${CLUSTERS_HINT}`.trimStart());
    }
    const names = parsed.data.map(({ name }) => name);
    const twice = names.find((name, i) => names.indexOf(name) !== i);
    // The cast drops `| undefined` from optional keys: JSON has no undefined.
    return twice === undefined
      ? (parsed.data as readonly ClusterConfig[])
      : refuse(`names the cluster ${twice} twice; leave one of them out`);
  }),
);
