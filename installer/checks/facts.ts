import type { DeploymentSettings } from "#infra/settings.ts";
import type { StackState } from "../account/stack-state.ts";

/** Kubernetes' own way to score nodes, by their free shares of cpu and memory. */
export const LEAST_ALLOCATED = "LeastAllocated";

/** What was asked for: its answer, or why there is none. */
export type Observed<T> = { readonly value: T } | { readonly error: string };

/** A cluster as EKS describes it. */
export interface ClusterFacts {
  /** "ACTIVE" when it can be used. */
  readonly status: string;
  /** As in "1.33". */
  readonly version: string;
  /** "API", "API_AND_CONFIG_MAP" or "CONFIG_MAP". */
  readonly authenticationMode: string;
  readonly isPublic: boolean;
  /** Who reaches the public endpoint. */
  readonly publicCidrs: readonly string[];
  /** Whether EKS Auto Mode makes nodes in it. */
  readonly hasAutoMode: boolean;
  /** Whether EKS writes its audit log. */
  readonly hasAuditLog: boolean;
  /** The network that the cluster was made with: ids of its subnets, and its own security group. */
  readonly subnetIds?: readonly string[];
  readonly securityGroupId?: string;
  /** How its API server reaches webhooks: "AWS_MANAGED", or by the VPC alone. */
  readonly egress: string;
  /** How kube-scheduler scores nodes: "LeastAllocated" (Kubernetes' default, also when absent) or "MostAllocated". */
  readonly scoring?: string;
}

/** What the caller finds in the cluster itself. */
export interface InClusterFacts {
  /** Whether the caller may create CustomResourceDefinitions. */
  readonly mayInstall: boolean;
  /** "NAMESPACE/NAME" of the Lease that a running Karpenter holds. */
  readonly karpenter?: string;
}

/** An account's concurrent executions of Lambda. */
export interface LambdaLimit {
  readonly limit: number;
  readonly unreserved: number;
}

/** What the checks judge; nothing in it was changed to find it out. */
export interface Facts {
  readonly cluster: string;
  /** Empty when none is known. */
  readonly region: string;
  readonly caller: Observed<{ readonly account: string; readonly arn: string }>;
  readonly eks: Observed<ClusterFacts>;
  readonly inCluster: Observed<InClusterFacts>;
  readonly lambda: Observed<LambdaLimit>;
  /** Undefined when there is no stack of the wanted name. */
  readonly stack: Observed<StackState | undefined>;
  /** The ARN of the role of nodes; undefined when there is none. */
  readonly nodeRole: Observed<string | undefined>;
  /** The type of that role's access entry, as in EC2_LINUX; undefined when there is none. */
  readonly nodeEntry: Observed<string | undefined>;
  /** How many carry the tag karpenter.sh/discovery with the cluster's name. */
  readonly subnets: Observed<number>;
  readonly securityGroups: Observed<number>;
  /** Whether the account has the service-linked role of spot. */
  readonly hasSpotRole: Observed<boolean>;
  readonly auditGroup: Observed<AuditGroup>;
}

/** The log group of a cluster's audit log, and its class; undefined when there is no such group. */
export interface AuditGroup {
  readonly group: string;
  readonly class: string | undefined;
}

/** Whether the settings have the source `audit` for a cluster. */
export const listensTo = (cluster: string, { clusters }: Pick<DeploymentSettings, "clusters">): boolean =>
  clusters.find(({ name }) => name === cluster)?.sources.includes("audit") ?? false;

/** The log group that EKS writes a cluster's audit log to, or the one that the settings name. */
export const auditGroupOf = (cluster: string, { clusters }: Pick<DeploymentSettings, "clusters">): string =>
  clusters.find(({ name }) => name === cluster)?.logGroup ?? `/aws/eks/${cluster}/cluster`;

/** Whether functions can listen to the audit log: EKS writes it, and not to a group that takes no subscription. */
export const takesSubscription = ({ eks, auditGroup }: Pick<Facts, "eks" | "auditGroup">): boolean =>
  "value" in eks && eks.value.hasAuditLog && !("value" in auditGroup && auditGroup.value.class === "INFREQUENT_ACCESS");

/** What the person wants, as far as checks depend on it. */
export type Wanted = Pick<
  DeploymentSettings,
  | "stackName"
  | "createNodeRoles"
  | "publicUrl"
  | "notifyConcurrency"
  | "admissionConcurrency"
  | "vpc"
  | "clusters"
  | "admission"
  | "callerVpcEndpointIds"
>;

/** The name of the role of a cluster's nodes: the settings' first, or else the one that the stack can make. */
export const nodeRoleOf = (cluster: string, { clusters }: Pick<Wanted, "clusters">): string =>
  clusters
    .find(({ name }) => name === cluster)
    ?.nodeRoles?.[0]?.split("/")
    .at(-1) ?? `KarpenterNodeRole-${cluster}`;
