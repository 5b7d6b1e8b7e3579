/** The facts that decide whether a NodeClass can launch a type. Most types have none of these fields. */
export interface LaunchFacts {
  /** Interfaces that each network card takes, by card index; absent for types with one card, which takes `enis`. */
  readonly networkCards?: readonly number[];
  /** Set for a type without an elastic network adapter: configured network interfaces do not work. */
  readonly withoutEna?: true;
  /** Set for a type that cannot be placed in placement groups of strategy `cluster`. */
  readonly withoutClusterPlacement?: true;
  readonly nestedVirtualization?: true;
}

interface RawFacts {
  readonly NetworkInfo?: {
    readonly EnaSupport?: string;
    readonly NetworkCards?: readonly { readonly NetworkCardIndex?: number; readonly MaximumNetworkInterfaces?: number }[];
  };
  readonly PlacementGroupInfo?: { readonly SupportedStrategies?: readonly string[] };
  readonly ProcessorInfo?: { readonly SupportedFeatures?: readonly string[] };
}

/** LaunchFacts from a DescribeInstanceTypes record (EC2's field names). */
export function launchFacts({ NetworkInfo, PlacementGroupInfo, ProcessorInfo }: RawFacts): LaunchFacts {
  const cards = NetworkInfo?.NetworkCards ?? [];
  const strategies = PlacementGroupInfo?.SupportedStrategies;
  return {
    ...(cards.length > 1 && { networkCards: byIndex(cards) }),
    ...(NetworkInfo?.EnaSupport === "unsupported" && { withoutEna: true }),
    ...(strategies !== undefined && !strategies.includes("cluster") && { withoutClusterPlacement: true }),
    ...(ProcessorInfo?.SupportedFeatures?.includes("nested-virtualization") && { nestedVirtualization: true }),
  };
}

function byIndex(cards: NonNullable<NonNullable<RawFacts["NetworkInfo"]>["NetworkCards"]>): readonly number[] {
  const most: number[] = [];
  for (const { NetworkCardIndex = 0, MaximumNetworkInterfaces = 0 } of cards) most[NetworkCardIndex] = MaximumNetworkInterfaces;
  return Array.from(most, (count) => count ?? 0);
}

/** The inverse of `launchFacts`, for fakes of EC2: merged into the record of a type with `enis` interfaces. */
export function rawLaunchFacts({ networkCards, withoutEna, withoutClusterPlacement, nestedVirtualization }: LaunchFacts, enis: number) {
  const cards = networkCards ?? [enis];
  const strategies = ["cluster", "partition", "spread"] as const;
  const features = ["nested-virtualization"] as const;
  return {
    EnaSupport: withoutEna ? ("unsupported" as const) : ("supported" as const),
    NetworkCards: cards.map((most, index) => ({ NetworkCardIndex: index, MaximumNetworkInterfaces: most })),
    SupportedStrategies: withoutClusterPlacement ? strategies.filter((name) => name !== "cluster") : strategies,
    SupportedFeatures: nestedVirtualization ? features : [],
  };
}
