import type { CapacityReservation, PlacementGroup } from "@aws-sdk/client-ec2";
import type { FakeCatalogue } from "./catalogue.ts";
import type { Call, TokenBucket } from "./faults.ts";
import type { FakeAwsState, FakeInstance } from "./world.ts";

export type FakeSubnetOptions = {
  readonly id?: string;
  readonly zone: string;
  readonly cidr?: string;
  readonly tags?: Readonly<Record<string, string>>;
  /** Free addresses; default: the size of the CIDR minus the five addresses that AWS reserves. */
  readonly freeAddresses?: number;
  readonly vpcId?: string;
};

export type FakeGroupOptions = {
  readonly id?: string;
  readonly name: string;
  readonly tags?: Readonly<Record<string, string>>;
  readonly vpcId?: string;
};

/**
 * The cluster as EKS describes it. `endpoint` and `caData` may be set later, once an API server runs: see
 * `FakeAws.cluster`.
 */
export type FakeCluster = {
  name: string;
  /** Kubernetes version, `1.36`. */
  version: string;
  endpoint: string;
  /** PEM certificate, base64. */
  caData: string;
  serviceCidr: string;
};

/** An event as EventBridge would carry it. */
export type AwsEvent = {
  readonly version: "0";
  readonly id: string;
  readonly "detail-type": string;
  readonly source: "aws.ec2" | "aws.health";
  readonly account: string;
  readonly time: string;
  readonly region: string;
  readonly resources: readonly string[];
  readonly detail: Readonly<Record<string, unknown>>;
};

/** A machine image of the account, for selectors by name, tag or id. */
export type OwnImage = {
  readonly name: string;
  readonly architecture: "x86_64" | "arm64";
  readonly id?: string;
  readonly tags?: Readonly<Record<string, string>>;
  /** ISO 8601; default 2026-01-01. */
  readonly creationDate?: string;
  readonly deprecationTime?: string;
};

/** A release of machine images; the newest release is `recommended` and `latest`. */
export type ImageRelease = {
  /** Amazon Linux release, `v20261105`; its digits are the creation date. */
  readonly date: string;
  /** Bottlerocket release, `1.50.0`. */
  readonly bottlerocket: string;
};

export type FakeAwsOptions = {
  readonly catalogue: FakeCatalogue;
  /** Default 0: the system chooses. */
  readonly port?: number;
  /** Default 111122223333. */
  readonly account?: string;
  readonly cluster?: Partial<FakeCluster>;
  /** Further clusters of the account, which EKS describes, too; they use the subnets and groups of the first. */
  readonly otherClusters?: readonly FakeCluster[];
  /** Default: one private /19 in each zone, tagged `karpenter.sh/discovery` = cluster name. */
  readonly subnets?: readonly FakeSubnetOptions[];
  /** Default: the cluster's group, tagged for discovery, and the VPC's default group. */
  readonly securityGroups?: readonly FakeGroupOptions[];
  /** IAM roles that exist; default `KarpenterNodeRole-<cluster>`. `"any"` accepts every name. */
  readonly roles?: readonly string[] | "any";
  /** Profiles that exist from the start, name → role; default `KarpenterNodeInstanceProfile-<cluster>`. */
  readonly instanceProfiles?: Readonly<Record<string, string>>;
  readonly capacityReservations?: readonly CapacityReservation[];
  readonly placementGroups?: readonly PlacementGroup[];
  readonly imageReleases?: readonly ImageRelease[];
  readonly ownImages?: readonly OwnImage[];
  /** From launch to `running`. Default 1000. */
  readonly bootDelayMs?: number;
  /** From TerminateInstances to `terminated`. Default 1000. */
  readonly terminateDelayMs?: number;
  /** From `terminated` until the id is unknown. Default one hour, as in EC2. */
  readonly forgetAfterMs?: number;
  /**
   * From launch until Describe, Terminate and CreateTags find the id, because EC2 is eventually consistent. Default 0.
   */
  readonly visibleAfterMs?: number;
  /** From CreateInstanceProfile until EC2 accepts the name. Default 0. */
  readonly profileVisibleAfterMs?: number;
  /** From a spot interruption's notice to the end. Default two minutes. */
  readonly noticeMs?: number;
  /** EC2's quota of requests: one bucket for all, or one for each action (documentedBucket). Without one, none. */
  readonly ec2Bucket?: TokenBucket | ((action: string) => TokenBucket);
  /** Role behind an access key, for the call log and for faults; default: the key itself. */
  readonly identify?: (accessKey: string) => string;
  /** Why IAM refuses a call; undefined when the call is allowed. Default: every call is allowed. */
  readonly authorize?: (call: Call, world: FakeAwsState) => string | undefined;
  /** Called once as each instance turns `running`. */
  readonly onRunning?: (instance: FakeInstance) => void | Promise<void>;
  /** Called once as each instance turns `terminated`. */
  readonly onTerminated?: (instance: FakeInstance) => void | Promise<void>;
  /** State changes, spot notices and rebalance recommendations, as EventBridge would carry them. */
  readonly onEvent?: (event: AwsEvent) => void | Promise<void>;
  /** Wall clock, epoch ms; default Date.now. */
  readonly now?: () => number;
  /** Seed of the ids; equal seeds and calls give equal ids. */
  readonly seed?: string;
};
