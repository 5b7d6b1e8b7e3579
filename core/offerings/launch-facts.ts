/** What decides whether a type can be launched as a NodeClass asks for. Most types have none of these. */
export interface LaunchFacts {
  /** Interfaces that each network card takes, by the card's index; absent from types with one card, which takes `enis`. */
  readonly networkCards?: readonly number[];
  /** No elastic network adapter: configured network interfaces do not work. */
  readonly withoutEna?: true;
  /** Cannot be put into placement groups of strategy `cluster`. */
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

/** The same out of a DescribeInstanceTypes record (EC2's field names). */
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

/** The inverse of `launchFacts`, for stand-ins of EC2: merged deeply into the record of a type with `enis` interfaces. */
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
