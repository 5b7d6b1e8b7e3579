import type { ClusterRecords } from "#core/ports/cluster-records.ts";
import type { AddedCluster } from "#infra/added-cluster-stack.ts";
import type { DeploymentSettings } from "#infra/settings.ts";
import type { ClusterFacts, InClusterFacts, LambdaLimit } from "./facts.ts";
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

export interface InstallPorts {
  /** Writes the templates and the code of a deployment into a folder. */
  readonly synthesize: (settings: DeploymentSettings, outDir: string) => Promise<void>;
  /** The text of the template of an added cluster's small stack. */
  readonly synthesizeAdded: (added: AddedCluster) => Promise<string>;
  readonly account: Account;
  readonly bucket: (account: string) => Bucket;
  readonly stacks: Stacks;
  readonly clusterApi: (cluster: string) => ClusterApi;
  /** The clusters that were added to the stack with this table. */
  readonly clusterRecords: (table: string) => ClusterRecords;
  readonly eventSources: EventSources;
  /** The text of a secret. */
  readonly secret: (arn: string) => Promise<string>;
  readonly sleep: (ms: number) => Promise<void>;
}
