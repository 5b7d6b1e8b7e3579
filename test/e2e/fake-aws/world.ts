import type {
  CapacityReservation,
  CreateFleetResult,
  InstanceStateName,
  InstanceStatusEvent,
  InstanceTypeInfo,
  PlacementGroup,
  RequestLaunchTemplateData,
} from "@aws-sdk/client-ec2";
import { type Clock, runningClock } from "./clock.ts";
import { type Call, type FaultBook, faultBook } from "./faults.ts";
import { hexOf } from "./ids.ts";
import { type FakeImage, imagesOf, ownImage } from "./images.ts";
import type { AwsEvent, FakeAwsOptions, FakeCluster, FakeGroupOptions, FakeSubnetOptions, ImageRelease } from "./options.ts";
import { type Prices, pricesOf } from "./prices.ts";

export type Tags = Map<string, string>;

export type FakeInstance = {
  readonly id: string;
  readonly reservationId: string;
  readonly instanceType: string;
  readonly architecture: string;
  readonly zone: string;
  readonly zoneId: string;
  readonly subnetId: string;
  readonly vpcId: string;
  readonly imageId: string;
  readonly capacityType: "on-demand" | "spot";
  readonly spotRequestId?: string;
  readonly capacityReservationId?: string;
  readonly capacityReservationPreference?: string;
  readonly securityGroupIds: readonly string[];
  readonly privateIp: string;
  readonly privateDnsName: string;
  readonly instanceProfile?: string;
  /** The launch template's user data, decoded from base64. */
  readonly userData: string;
  /** The launch parameters after merging the template and its overrides. */
  readonly launch: RequestLaunchTemplateData;
  readonly launchTemplateId?: string;
  readonly fleetId?: string;
  readonly clientToken?: string;
  /** The role that launched the instance. */
  readonly launchedBy: string;
  /** Epoch ms. */
  readonly launchTime: number;
  readonly visibleAt: number;
  readonly tags: Tags;
  state: InstanceStateName;
  stateReason?: { readonly code: string; readonly message: string };
  terminatedAt?: number;
  /** Failing checks and scheduled events, for DescribeInstanceStatus. */
  impaired: { instance?: number; system?: number };
  scheduledEvents: InstanceStatusEvent[];
};

export type FakeSubnet = {
  readonly id: string;
  readonly zone: string;
  readonly zoneId: string;
  readonly vpcId: string;
  readonly cidr: string;
  readonly tags: Tags;
  freeAddresses: number;
  readonly used: Set<number>;
  /** Where the search for a free address begins: after the one that was given last. */
  nextHost: number;
};

/** AWS reserves the first four addresses and the last address of each subnet. */
export const FIRST_HOST = 4;

export type FakeSecurityGroup = { readonly id: string; readonly name: string; readonly vpcId: string; readonly tags: Tags };

export type FakeLaunchTemplate = {
  readonly id: string;
  readonly name: string;
  readonly createTime: Date;
  readonly createdBy: string;
  readonly tags: Tags;
  readonly versions: RequestLaunchTemplateData[];
  readonly versionDescriptions: (string | undefined)[];
};

export type FakeFleet = {
  readonly id: string;
  readonly time: number;
  readonly clientToken?: string;
  readonly answer: CreateFleetResult;
  readonly tags: Tags;
};

export type FakeInstanceProfile = {
  readonly name: string;
  readonly id: string;
  readonly path: string;
  readonly createdAt: number;
  readonly tags: Tags;
  role?: string;
};

/** The state of the fake, mutable because it stands for a region of AWS. */
export type FakeAwsState = {
  readonly options: FakeAwsOptions;
  readonly region: string;
  readonly account: string;
  readonly clock: Clock;
  readonly cluster: FakeCluster;
  readonly types: ReadonlyMap<string, InstanceTypeInfo>;
  /** Current prices, USD per hour (prices.ts). */
  readonly prices: Prices;
  readonly subnets: Map<string, FakeSubnet>;
  readonly securityGroups: Map<string, FakeSecurityGroup>;
  readonly instances: Map<string, FakeInstance>;
  readonly launchTemplates: Map<string, FakeLaunchTemplate>;
  readonly fleets: Map<string, FakeFleet>;
  readonly instanceProfiles: Map<string, FakeInstanceProfile>;
  readonly capacityReservations: CapacityReservation[];
  readonly placementGroups: PlacementGroup[];
  readonly releases: ImageRelease[];
  readonly images: Map<string, FakeImage>;
  /** SSM parameter → value, of the releases. */
  readonly parameters: Map<string, string>;
  /** `action token` → parameters and answer of the first call. */
  readonly tokens: Map<string, { readonly params: unknown; readonly answer: unknown }>;
  readonly calls: Call[];
  readonly events: AwsEvent[];
  /** Errors of hooks; a test asserts that the list is empty. */
  readonly hookErrors: unknown[];
  readonly faults: FaultBook;
  /** A new id such as `i-0123456789abcdef0`. */
  id(prefix: string, length?: number): string;
};

export const VPC = "vpc-0fa4e000000000001";
const FIRST_RELEASES: readonly ImageRelease[] = [
  { date: "v20260901", bottlerocket: "1.49.0" },
  { date: "v20261105", bottlerocket: "1.50.0" },
];

/** The state of a region before the first call. */
export function makeFakeAwsState(options: FakeAwsOptions): FakeAwsState {
  const { catalogue } = options;
  const cluster: FakeCluster = {
    name: "karpenter-test",
    version: "1.36",
    endpoint: "https://127.0.0.1:6443",
    caData: Buffer.from("no certificate").toString("base64"),
    serviceCidr: "10.96.0.0/16",
    ...options.cluster,
  };
  const account = options.account ?? "111122223333";
  let ids = 0;
  const id = (prefix: string, length = 17) => {
    ids += 1;
    // Current ids of 17 digits begin with a zero.
    const digits = hexOf(`${options.seed ?? "fake"}/${prefix}/${ids}`, length);
    return `${prefix}-${length === 17 ? `0${digits.slice(1)}` : digits}`;
  };
  const zoneIds = new Map(catalogue.zones.map(({ name, zoneId }) => [name, zoneId]));
  const discovery = { "karpenter.sh/discovery": cluster.name };

  const subnetOptions: readonly FakeSubnetOptions[] =
    options.subnets ??
    catalogue.zones.map(({ name }) => ({
      zone: name,
      tags: { ...discovery, Name: `private-${name}`, "kubernetes.io/role/internal-elb": "1" },
    }));
  const subnets = new Map<string, FakeSubnet>();
  subnetOptions.forEach((subnet, i) => {
    const cidr = subnet.cidr ?? `10.${Math.floor(i / 8)}.${(i % 8) * 32}.0/19`;
    const made: FakeSubnet = {
      id: subnet.id ?? `subnet-${hexOf(`${subnet.zone}/${i}`, 17)}`,
      zone: subnet.zone,
      zoneId: zoneIds.get(subnet.zone) ?? "",
      vpcId: subnet.vpcId ?? VPC,
      cidr,
      tags: new Map(Object.entries(subnet.tags ?? discovery)),
      freeAddresses: subnet.freeAddresses ?? 2 ** (32 - Number(cidr.split("/")[1])) - FIRST_HOST - 1,
      used: new Set(),
      nextHost: FIRST_HOST,
    };
    subnets.set(made.id, made);
  });

  const groupOptions: readonly FakeGroupOptions[] = options.securityGroups ?? [
    {
      name: `eks-cluster-sg-${cluster.name}`,
      tags: { ...discovery, "aws:eks:cluster-name": cluster.name, [`kubernetes.io/cluster/${cluster.name}`]: "owned" },
    },
    { name: "default", tags: {} },
  ];
  const securityGroups = new Map<string, FakeSecurityGroup>();
  groupOptions.forEach((group, i) => {
    const groupId = group.id ?? `sg-${hexOf(`${group.name}/${i}`, 17)}`;
    const tags = new Map(Object.entries(group.tags ?? {}));
    securityGroups.set(groupId, { id: groupId, name: group.name, vpcId: group.vpcId ?? VPC, tags });
  });

  const profiles = options.instanceProfiles ?? {
    [`KarpenterNodeInstanceProfile-${cluster.name}`]: `KarpenterNodeRole-${cluster.name}`,
  };
  const clock = runningClock(options.now);
  const instanceProfiles = new Map<string, FakeInstanceProfile>(
    Object.entries(profiles).map(([name, role]) => [
      name,
      { name, role, id: `AIPA${hexOf(name, 17).toUpperCase()}`, path: "/", createdAt: 0, tags: new Map() },
    ]),
  );
  const world: FakeAwsState = {
    options,
    region: catalogue.region,
    account,
    clock,
    cluster,
    types: new Map(catalogue.instanceTypes.map((type) => [String(type.InstanceType), type])),
    prices: pricesOf(catalogue),
    subnets,
    securityGroups,
    instances: new Map(),
    launchTemplates: new Map(),
    fleets: new Map(),
    instanceProfiles,
    capacityReservations: (options.capacityReservations ?? []).map((reservation) => ({ ...reservation })),
    placementGroups: [...(options.placementGroups ?? [])],
    releases: [],
    images: new Map(),
    parameters: new Map(),
    tokens: new Map(),
    calls: [],
    events: [],
    hookErrors: [],
    faults: faultBook(),
    id,
  };
  for (const release of options.imageReleases ?? FIRST_RELEASES) releaseImages(world, release);
  for (const own of options.ownImages ?? []) {
    const made = ownImage(own, account);
    world.images.set(made.id, made);
  }
  return world;
}

/** Publishes newer machine images, which become `recommended` and `latest`. */
export function releaseImages(world: FakeAwsState, release: ImageRelease): void {
  world.releases.push(release);
  for (const { image, parameters } of imagesOf(release, world.cluster.version)) {
    world.images.set(image.id, image);
    for (const parameter of parameters) world.parameters.set(parameter, image.id);
  }
}

/** Tags as the list of the API. */
export const tagList = (tags: Tags): { Key: string; Value: string }[] => [...tags].map(([Key, Value]) => ({ Key, Value }));
