// What the installer asks of AWS, of a cluster's API server and of the person at the terminal.
// In: a region and the caller's credentials. Out: one set of ports, of which each command takes the part that it uses.
// What may not be read rejects with one sentence.

import type { Instance } from "#core/model/instance.ts";
import type { ClusterRecords } from "#core/ports/cluster-records.ts";
import type { NodeClaimStore } from "#core/ports/node-claim-store.ts";
import type { AddedCluster } from "#infra/added-cluster-stack.ts";
import type { DeploymentSettings } from "#infra/settings.ts";
import type { ClusterFacts, InClusterFacts, LambdaLimit } from "../checks/facts.ts";
import type { ChangeSets } from "./change-sets.ts";
import type { StackState } from "./stack-state.ts";

/** Questions about an account, in one region. Each rejects with the sentence of AWS when it may not be asked. */
export interface Account {
  readonly caller: () => Promise<{ readonly account: string; readonly arn: string }>;
  readonly cluster: (name: string) => Promise<ClusterFacts>;
  /** False only where EKS says that there is no cluster of this name. */
  readonly hasCluster: (name: string) => Promise<boolean>;
  readonly lambdaLimit: () => Promise<LambdaLimit>;
  /** Undefined when there is no such role. */
  readonly roleArn: (name: string) => Promise<string | undefined>;
  /** Undefined when the role has no entry. */
  readonly accessEntryType: (cluster: string, roleArn: string) => Promise<string | undefined>;
  /** How many carry the tag karpenter.sh/discovery=CLUSTER. */
  readonly tagged: (kind: "subnets" | "securityGroups", cluster: string) => Promise<number>;
  /** Gives subnets and security groups that tag. */
  readonly tagForDiscovery: (ids: readonly string[], cluster: string) => Promise<void>;
}

/** A Kubernetes object as manifests have it. */
export interface KubeObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly uid?: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
    readonly finalizers?: readonly string[];
    /** RFC 3339; set while finalizers hold a deleted object. */
    readonly deletionTimestamp?: string;
    /** RFC 3339. */
    readonly creationTimestamp?: string;
  };
  readonly spec?: unknown;
  readonly status?: unknown;
}

/** The cluster's API server, as the caller sees it. */
export interface ClusterApi {
  readonly observe: () => Promise<InClusterFacts>;
  /** All objects of a kind in all namespaces that the query selects; none when the kind is not served. */
  readonly list: (
    type: Pick<KubeObject, "apiVersion" | "kind">,
    query?: Readonly<Record<string, string>>,
  ) => Promise<readonly KubeObject[]>;
  /** Undefined when there is none, or when its kind is not served. */
  readonly find: (object: KubeObject) => Promise<KubeObject | undefined>;
  /** Server-side apply; what is said already stays as it is. */
  readonly apply: (object: KubeObject) => Promise<void>;
  /** A JSON merge patch (RFC 7386): null removes a field. Throws NotFoundError when there is no such object. */
  readonly patch: (object: KubeObject, change: object) => Promise<void>;
  /** Does nothing when there is none. */
  readonly remove: (object: KubeObject) => Promise<void>;
}

/** The bucket that holds the functions' code. */
export interface Bucket {
  readonly name: string;
  /** Makes the bucket if there is none. Rejects when another account has one of this name. */
  readonly ensure: () => Promise<void>;
  readonly has: (key: string) => Promise<boolean>;
  readonly put: (key: string, body: Uint8Array<ArrayBuffer>) => Promise<void>;
  /** What CloudFormation reads a template by. */
  readonly url: (key: string) => string;
}

export interface StackEvent {
  readonly id: string;
  readonly resource: string;
  /** As in "AWS::Lambda::Url". */
  readonly type: string;
  readonly status: string;
  readonly reason: string;
}

/** What a stack has made. */
export interface StackResource {
  /** The logical id in the template. */
  readonly name: string;
  /** As in "AWS::Lambda::Function". */
  readonly type: string;
  /** The name, ARN or URL that the service knows. */
  readonly id: string;
}

/** CloudFormation. */
export interface Stacks {
  /** Undefined when there is no such stack. */
  readonly describe: (name: string) => Promise<StackState | undefined>;
  readonly create: (name: string, templateUrl: string) => Promise<void>;
  /** False when the template says what the stack is already, so that nothing is done. */
  readonly update: (name: string, templateUrl: string) => Promise<boolean>;
  readonly remove: (name: string) => Promise<void>;
  /** The events of at least the last attempt, the newest first. */
  readonly events: (name: string) => Promise<readonly StackEvent[]>;
  readonly resources: (name: string) => Promise<readonly StackResource[]>;
  /** The Metadata of the deployed template; an empty object where it has none. */
  readonly metadata: (name: string) => Promise<Readonly<Record<string, unknown>>>;
}

/** How a queue starts its function. */
export interface EventSource {
  readonly batchSize: number;
  /** Absent where nothing bounds it. */
  readonly maxConcurrency?: number;
}

/** Lambda's event source mappings, by their ids. */
export interface EventSources {
  readonly read: (id: string) => Promise<EventSource>;
  readonly change: (id: string, to: EventSource) => Promise<void>;
}

/** A line of a function's log with an error. */
export interface LoggedError {
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly message: string;
}

/** A metric of CloudWatch, in points of one minute. */
interface MetricQuestion {
  readonly namespace: string;
  readonly name: string;
  readonly dimensions: Readonly<Record<string, string>>;
  readonly statistic: "Sum" | "Maximum";
  /** From when on, ms. */
  readonly since: number;
}

interface MetricPoint {
  readonly at: number;
  readonly value: number;
}

/** Questions about a stack that runs. */
export interface Inspector {
  /** The latest since a time; undefined when there is none. */
  readonly lastError: (functionName: string, since: number) => Promise<LoggedError | undefined>;
  /** Messages that can be received. */
  readonly depth: (queueUrl: string) => Promise<number>;
  readonly isScheduleEnabled: (schedule: string) => Promise<boolean>;
  /** Oldest first. */
  readonly metric: (question: MetricQuestion) => Promise<readonly MetricPoint[]>;
  /** A quota of EC2, in its own unit. */
  readonly ec2Quota: (code: string) => Promise<number>;
  /** As of when the table has instance types and prices; undefined when the catalog function has written none yet. */
  readonly pricesAsOf: (table: string) => Promise<string | undefined>;
  /** The HTTP status of a GET. */
  readonly get: (url: string) => Promise<number>;
}

/** What is set in AWS now, whatever the template says: a person may have changed it. */
export interface LiveSettings {
  /** "Allow" or "Terminate". */
  readonly recursiveLoop: (functionName: string) => Promise<string>;
  /** Undefined where none is reserved. */
  readonly reservedConcurrency: (functionName: string) => Promise<number | undefined>;
  /** Of an event source mapping, by its id. */
  readonly isSourceEnabled: (id: string) => Promise<boolean>;
  readonly isRuleEnabled: (rule: string) => Promise<boolean>;
  /** "STANDARD" or "INFREQUENT_ACCESS"; undefined when there is no such log group. */
  readonly logGroupClass: (name: string) => Promise<string | undefined>;
  /** The way of subnets to AWS's APIs. */
  readonly network: (subnetIds: readonly string[]) => Promise<{
    /** Subnets without NAT or another default route that serves private addresses. */
    readonly withoutWayOut: readonly string[];
    /** As in "com.amazonaws.us-west-2.sqs". */
    readonly endpoints: readonly string[];
  }>;
}

/** What a cluster that is gone has left in an account and region. All lists are read to their last page. */
export interface LeftBehind {
  /** Ids of instances with the tags of the cluster, a NodePool and an EC2NodeClass that are not ending. */
  readonly instances: (cluster: string) => Promise<readonly string[]>;
  readonly terminate: (ids: readonly string[]) => Promise<void>;
  /** Deletes those with the cluster's tag. Returns how many there were. */
  readonly removeLaunchTemplates: (cluster: string) => Promise<number>;
  /** Names of the profiles under the cluster's path in IAM. */
  readonly instanceProfiles: (cluster: string) => Promise<readonly string[]>;
  /** Takes the role out first. Does nothing when there is none. */
  readonly removeInstanceProfile: (name: string) => Promise<void>;
  /** Names of the tables that deployments of this stack have made, also when the stack is gone. */
  readonly tables: (stack: string) => Promise<readonly string[]>;
  /** Does nothing when there is none. */
  readonly removeTable: (name: string) => Promise<void>;
}

/** The records of a cluster, as far as they are ended here. */
export type Records = Pick<
  NodeClaimStore,
  "getDocument" | "list" | "remove" | "commands" | "removeCommand" | "acquireLease" | "renewLease" | "releaseLease"
>;

/** Everything behind the installer. */
export interface InstallerPorts {
  /** Writes the templates and the code of a deployment into a folder. */
  readonly synthesize: (settings: DeploymentSettings, outDir: string) => Promise<void>;
  /** The text of the template of an added cluster's small stack. */
  readonly synthesizeAdded: (added: AddedCluster) => Promise<string>;
  readonly account: Account;
  readonly bucket: (account: string) => Bucket;
  readonly stacks: Stacks;
  readonly changeSets: ChangeSets;
  readonly clusterApi: (cluster: string) => ClusterApi;
  /** The clusters that were added to the stack with this table. */
  readonly clusterRecords: (table: string) => ClusterRecords;
  /** The records of NodeClaims in a table. */
  readonly records: (table: string) => NodeClaimStore;
  /** Instances with the cluster's tags. */
  readonly instances: (cluster: string) => Promise<readonly Instance[]>;
  readonly leftBehind: LeftBehind;
  readonly eventSources: EventSources;
  readonly inspector: Inspector;
  readonly live: LiveSettings;
  /** The text of a secret. */
  readonly secret: (arn: string) => Promise<string>;
  /** Asks the person; undefined where standard input is no terminal. */
  readonly confirm: (question: string) => Promise<boolean | undefined>;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  readonly sleep: (ms: number) => Promise<void>;
  readonly newId: () => string;
}

export type InstallPorts = Pick<
  InstallerPorts,
  "synthesize" | "synthesizeAdded" | "account" | "bucket" | "stacks" | "clusterApi" | "clusterRecords" | "eventSources" | "secret" | "sleep"
> & { readonly live: Pick<LiveSettings, "logGroupClass"> };

export type UpgradePorts = InstallPorts &
  Pick<InstallerPorts, "changeSets" | "inspector" | "live" | "confirm" | "now"> &
  Pick<InstallationPorts, "records">;

export type UninstallPorts = InstallPorts &
  Pick<InstallerPorts, "leftBehind" | "confirm" | "now"> & { readonly records: (table: string) => Records };

/** What status and doctor read: nothing behind it changes anything. */
export interface InstallationPorts extends Pick<InstallerPorts, "account" | "secret" | "inspector" | "live" | "now"> {
  readonly stacks: Pick<Stacks, "describe" | "resources" | "metadata">;
  readonly clusterRecords: (table: string) => Pick<ClusterRecords, "list">;
  readonly clusterApi: (cluster: string) => Pick<ClusterApi, "observe" | "list" | "find">;
  readonly records: (table: string) => Pick<NodeClaimStore, "getDocument">;
}

export interface AdoptPorts extends Pick<InstallerPorts, "instances" | "sleep" | "now" | "newId"> {
  readonly stacks: Pick<Stacks, "describe" | "metadata">;
  readonly clusterApi: (cluster: string) => Pick<ClusterApi, "list" | "find" | "patch">;
  readonly records: (table: string) => Pick<NodeClaimStore, "list" | "create">;
}
