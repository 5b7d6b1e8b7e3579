/** The facts that decide whether a NodeClass can launch a type, and how many volumes the instance takes. */
export interface LaunchFacts {
  /** Interfaces that each network card takes, by card index; absent for types with one card, which takes `enis`. */
  readonly networkCards?: readonly number[];
  /** Set for a type without an elastic network adapter: configured network interfaces do not work. */
  readonly withoutEna?: true;
  /** Set for a type that cannot be placed in placement groups of strategy `cluster`. */
  readonly withoutClusterPlacement?: true;
  readonly nestedVirtualization?: true;
  /** Set for a type that can run Nitro Enclaves. */
  readonly enclaves?: true;
  /** EBS volumes that EC2 attaches, the root volume included. */
  readonly volumes?: number;
  /** Set where network interfaces beyond the first take the place of volumes. */
  readonly volumesShared?: true;
}

interface RawFacts {
  readonly NetworkInfo?: {
    readonly EnaSupport?: string;
    readonly NetworkCards?: readonly { readonly NetworkCardIndex?: number; readonly MaximumNetworkInterfaces?: number }[];
  };
  readonly PlacementGroupInfo?: { readonly SupportedStrategies?: readonly string[] };
  readonly ProcessorInfo?: { readonly SupportedFeatures?: readonly string[] };
  readonly NitroEnclavesSupport?: string;
  readonly EbsInfo?: { readonly MaximumEbsAttachments?: number; readonly AttachmentLimitType?: string };
}

/** LaunchFacts from a DescribeInstanceTypes record (EC2's field names). */
export function launchFacts({ NetworkInfo, PlacementGroupInfo, ProcessorInfo, NitroEnclavesSupport, EbsInfo }: RawFacts): LaunchFacts {
  const cards = NetworkInfo?.NetworkCards ?? [];
  const strategies = PlacementGroupInfo?.SupportedStrategies;
  return {
    ...(cards.length > 1 && { networkCards: byIndex(cards) }),
    ...(NetworkInfo?.EnaSupport === "unsupported" && { withoutEna: true }),
    ...(strategies !== undefined && !strategies.includes("cluster") && { withoutClusterPlacement: true }),
    ...(ProcessorInfo?.SupportedFeatures?.includes("nested-virtualization") && { nestedVirtualization: true }),
    ...(NitroEnclavesSupport === "supported" && { enclaves: true }),
    ...(EbsInfo?.MaximumEbsAttachments !== undefined && { volumes: EbsInfo.MaximumEbsAttachments }),
    ...(EbsInfo?.AttachmentLimitType === "shared" && { volumesShared: true }),
  };
}

function byIndex(cards: NonNullable<NonNullable<RawFacts["NetworkInfo"]>["NetworkCards"]>): readonly number[] {
  const most: number[] = [];
  for (const { NetworkCardIndex = 0, MaximumNetworkInterfaces = 0 } of cards) most[NetworkCardIndex] = MaximumNetworkInterfaces;
  return Array.from(most, (count) => count ?? 0);
}

/** The inverse of `launchFacts`, for fakes of EC2: merged into the record of a type with `enis` interfaces. */
export function rawLaunchFacts(type: LaunchFacts, enis: number) {
  const { networkCards, withoutEna, withoutClusterPlacement, nestedVirtualization, enclaves, volumes, volumesShared } = type;
  const cards = networkCards ?? [enis];
  const strategies = ["cluster", "partition", "spread"] as const;
  const features = ["nested-virtualization"] as const;
  return {
    EnaSupport: withoutEna ? ("unsupported" as const) : ("supported" as const),
    NetworkCards: cards.map((most, index) => ({ NetworkCardIndex: index, MaximumNetworkInterfaces: most })),
    SupportedStrategies: withoutClusterPlacement ? strategies.filter((name) => name !== "cluster") : strategies,
    SupportedFeatures: nestedVirtualization ? features : [],
    NitroEnclavesSupport: enclaves ? ("supported" as const) : ("unsupported" as const),
    ...(volumes !== undefined && {
      EbsInfo: { MaximumEbsAttachments: volumes, AttachmentLimitType: volumesShared ? ("shared" as const) : ("dedicated" as const) },
    }),
  };
}
