import { DescribeSpotPriceHistoryCommand, type EC2Client } from "@aws-sdk/client-ec2";
import { GetProductsCommand, type PricingClient } from "@aws-sdk/client-pricing";
import { allPages } from "./pages.ts";

/**
 * The two priced products: virtual machines with shared tenancy, and bare metal
 * (karpenter-provider-aws: pkg/providers/pricing/pricing.go, DefaultProvider.UpdateOnDemandPricing).
 */
const PRODUCTS = [
  { tenancy: "Shared", productFamily: "Compute Instance" },
  { tenancy: "Dedicated", productFamily: "Compute Instance (bare metal)" },
];

/**
 * On-demand prices in USD per hour by instance type. Throws when one of the products has no price at all, so that the
 * old prices stay in use.
 */
export async function onDemandPrices(pricing: PricingClient, region: string): Promise<Readonly<Record<string, number>>> {
  const prices: Record<string, number> = {};
  await Promise.all(
    PRODUCTS.map(async ({ tenancy, productFamily }) => {
      const filters = {
        regionCode: region,
        serviceCode: "AmazonEC2",
        preInstalledSw: "NA",
        operatingSystem: "Linux",
        capacitystatus: "Used",
        marketoption: "OnDemand",
        tenancy,
        productFamily,
      };
      const list = await allPages(
        (NextToken) =>
          pricing.send(
            new GetProductsCommand({
              ServiceCode: "AmazonEC2",
              MaxResults: 100,
              Filters: Object.entries(filters).map(([Field, Value]) => ({ Type: "TERM_MATCH", Field, Value })),
              NextToken,
            }),
          ),
        (page) => page.PriceList,
        (page) => page.NextToken,
      );
      const found = list.flatMap((entry) => priceOf(String(entry)));
      if (found.length === 0) throw new Error(`the Price List API gave no prices for "${productFamily}" in ${region}`);
      for (const [type, price] of found) prices[type] = price;
    }),
  );
  return prices;
}

interface PriceListEntry {
  readonly product?: { readonly attributes?: { readonly instanceType?: string } };
  readonly terms?: {
    readonly OnDemand?: Readonly<
      Record<
        string,
        {
          readonly priceDimensions?: Readonly<
            Record<string, { readonly pricePerUnit?: { readonly USD?: string; readonly CNY?: string; readonly EUR?: string } }>
          >;
        }
      >
    >;
  };
}

/** Instance type and price of one entry of the price list; empty when the entry cannot be read or costs nothing. */
function priceOf(json: string): readonly (readonly [type: string, price: number])[] {
  let entry: PriceListEntry;
  try {
    entry = JSON.parse(json) as PriceListEntry;
  } catch {
    return [];
  }
  const type = entry.product?.attributes?.instanceType;
  const dimensions = Object.values(entry.terms?.OnDemand ?? {}).flatMap((term) => Object.values(term.priceDimensions ?? {}));
  const price = dimensions.map(({ pricePerUnit: { USD, CNY, EUR } = {} }) => Number(USD ?? CNY ?? EUR)).find((amount) => amount > 0);
  return type === undefined || price === undefined ? [] : [[type, price]];
}

/** Current spot prices in USD per hour by instance type and zone. Throws when there are none. */
export async function spotPrices(ec2: EC2Client): Promise<Readonly<Record<string, Readonly<Record<string, number>>>>> {
  const StartTime = new Date();
  const history = await allPages(
    (NextToken) =>
      ec2.send(
        new DescribeSpotPriceHistoryCommand({
          ProductDescriptions: ["Linux/UNIX", "Linux/UNIX (Amazon VPC)"],
          StartTime,
          MaxResults: 2000,
          NextToken,
        }),
      ),
    (page) => page.SpotPriceHistory,
    (page) => page.NextToken,
  );
  const newest = new Map<string, number>();
  const prices: Record<string, Record<string, number>> = {};
  for (const { InstanceType, AvailabilityZone, SpotPrice, Timestamp } of history) {
    const price = Number(SpotPrice);
    const at = Timestamp?.getTime();
    if (!InstanceType || !AvailabilityZone || at === undefined || !(price > 0)) continue;
    const key = `${InstanceType} ${AvailabilityZone}`;
    if (at < (newest.get(key) ?? 0)) continue;
    newest.set(key, at);
    prices[InstanceType] = { ...prices[InstanceType], [AvailabilityZone]: price };
  }
  if (newest.size === 0) throw new Error("DescribeSpotPriceHistory gave no prices");
  return prices;
}
