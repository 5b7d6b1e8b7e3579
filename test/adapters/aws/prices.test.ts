import { DescribeSpotPriceHistoryCommand, EC2Client } from "@aws-sdk/client-ec2";
import { GetProductsCommand, PricingClient } from "@aws-sdk/client-pricing";
import { mockClient } from "aws-sdk-client-mock";
import { beforeEach, describe, expect, it } from "vitest";
import { onDemandPrices, spotPrices } from "#adapters/aws/prices.ts";

const pricing = mockClient(PricingClient);
const ec2 = mockClient(EC2Client);
beforeEach(() => {
  pricing.reset();
  ec2.reset();
});

const entry = (instanceType: string, pricePerUnit: Readonly<Record<string, string>>): string =>
  JSON.stringify({
    product: { attributes: { instanceType } },
    terms: { OnDemand: { term: { priceDimensions: { dimension: { pricePerUnit } } } } },
  });

/** Answers for virtual machines and for bare metal. */
function answering(shared: readonly string[], metal: readonly string[]) {
  pricing.on(GetProductsCommand).callsFake(({ Filters = [] }) => {
    const { Value } = Filters.find(({ Field }: { Field: string }) => Field === "productFamily");
    return { PriceList: Value === "Compute Instance" ? shared : metal };
  });
  return onDemandPrices(new PricingClient({ region: "cn-northwest-1" }), "cn-north-1");
}

describe("onDemandPrices", () => {
  it("prices are in USD, in China in CNY, and free or unreadable entries are skipped", async () => {
    const shared = [
      entry("m5.large", { CNY: "0.7000000000" }),
      entry("c5.large", { USD: "0.085", CNY: "9" }),
      entry("t3.micro", { CNY: "0.0000000000" }),
      "{",
    ];
    expect(await answering(shared, [entry("m5.metal", { CNY: "30" })])).toEqual({ "m5.large": 0.7, "c5.large": 0.085, "m5.metal": 30 });
    const [first] = pricing.commandCalls(GetProductsCommand);
    expect(first?.args[0].input.Filters).toContainEqual({ Type: "TERM_MATCH", Field: "regionCode", Value: "cn-north-1" });
  });

  it("on-demand prices fail when one of the two products has none, so that the old ones stay", async () => {
    await expect(answering([entry("m5.large", { USD: "1" })], [])).rejects.toThrow(
      'the Price List API gave no prices for "Compute Instance (bare metal)" in cn-north-1',
    );
  });
});

describe("spotPrices", () => {
  const ask = () => spotPrices(new EC2Client({ region: "us-west-2" }));
  const price = (AvailabilityZone: string, SpotPrice: string, Timestamp?: Date) => ({
    ...{ InstanceType: "m5.large" as const, AvailabilityZone, SpotPrice },
    ...(Timestamp && { Timestamp }),
  });

  it("the newest spot price of each zone is used, over all pages", async () => {
    const [old, young] = [new Date("2026-11-21T10:00:00Z"), new Date("2026-11-21T11:00:00Z")];
    ec2
      .on(DescribeSpotPriceHistoryCommand)
      .resolvesOnce({ SpotPriceHistory: [price("a", "0.05", young), price("a", "0.09", old), price("b", "n/a", young)], NextToken: "2" })
      .resolvesOnce({ SpotPriceHistory: [price("c", "0.03", old), price("d", "0.01")], NextToken: "" });
    expect(await ask()).toEqual({ "m5.large": { a: 0.05, c: 0.03 } });
  });

  it("spot prices fail when there are none", async () => {
    ec2.on(DescribeSpotPriceHistoryCommand).resolves({ SpotPriceHistory: [] });
    await expect(ask()).rejects.toThrow("DescribeSpotPriceHistory gave no prices");
  });
});
