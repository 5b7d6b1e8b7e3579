/**
 * AWS's partitions, which have accounts, endpoints and ARNs of their own: the domain of their endpoints, their regions
 * (a pattern that also fits regions that come), and the regions in which the Price List API has an endpoint, the first
 * for those that no other is near to. From botocore's partitions.json and endpoints.json; `npm run verify -- models`
 * compares.
 */
interface Partition {
  readonly id: string;
  readonly dnsSuffix: string;
  readonly regions: RegExp;
  readonly pricing: readonly string[];
}

export const PARTITIONS: readonly Partition[] = [
  {
    id: "aws",
    dnsSuffix: "amazonaws.com",
    regions: /^(us|eu|ap|sa|ca|me|af|il|mx)-\w+-\d+$/,
    pricing: ["us-east-1", "eu-central-1", "ap-south-1"],
  },
  { id: "aws-cn", dnsSuffix: "amazonaws.com.cn", regions: /^cn-\w+-\d+$/, pricing: ["cn-northwest-1"] },
  { id: "aws-us-gov", dnsSuffix: "amazonaws.com", regions: /^us-gov-\w+-\d+$/, pricing: [] },
  { id: "aws-eusc", dnsSuffix: "amazonaws.eu", regions: /^eusc-de-\w+-\d+$/, pricing: ["eusc-de-east-1"] },
  { id: "aws-iso", dnsSuffix: "c2s.ic.gov", regions: /^us-iso-\w+-\d+$/, pricing: ["us-iso-east-1"] },
  { id: "aws-iso-b", dnsSuffix: "sc2s.sgov.gov", regions: /^us-isob-\w+-\d+$/, pricing: ["us-isob-east-1"] },
  { id: "aws-iso-e", dnsSuffix: "cloud.adc-e.uk", regions: /^eu-isoe-\w+-\d+$/, pricing: ["eu-isoe-west-1"] },
  { id: "aws-iso-f", dnsSuffix: "csp.hci.ic.gov", regions: /^us-isof-\w+-\d+$/, pricing: ["us-isof-south-1"] },
];

/** Undefined for a region of a partition that is not in the table. */
export const partitionOf = (region: string): Partition | undefined => PARTITIONS.find(({ regions }) => regions.test(region));

/** The domain of a region's endpoints. The synthesis refuses regions without a partition; AWS's own stands in. */
export const dnsSuffix = (region: string): string => partitionOf(region)?.dnsSuffix ?? "amazonaws.com";

/**
 * The region whose Price List API serves this one, in the same partition: the nearest, by the continent in its name
 * (karpenter-provider-aws: pkg/providers/pricing/pricing.go, NewAPI).
 */
export function pricingRegion(region: string): string {
  const { pricing = [] } = partitionOf(region) ?? {};
  const continent = region.slice(0, region.indexOf("-"));
  return pricing.find((one) => one.startsWith(`${continent}-`)) ?? pricing[0] ?? "us-east-1";
}
