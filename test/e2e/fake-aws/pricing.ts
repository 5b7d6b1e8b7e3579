import { AwsError } from "./errors.ts";
import { hexOf } from "./ids.ts";
import type { FakeAwsState } from "./world.ts";

type PricingFilter = { readonly Type?: string; readonly Field?: string; readonly Value?: string };

const isMetal = (type: string): boolean => /[.-]metal(?:-|$)/.test(type);

/** The attributes of a price list entry, which filters read. */
function attributesOf(world: FakeAwsState, type: string): Readonly<Record<string, string>> {
  const info = world.types.get(type);
  return {
    servicecode: "AmazonEC2",
    serviceCode: "AmazonEC2",
    regionCode: world.region,
    locationType: "AWS Region",
    instanceType: type,
    tenancy: isMetal(type) ? "Dedicated" : "Shared",
    operatingSystem: "Linux",
    preInstalledSw: "NA",
    capacitystatus: "Used",
    marketoption: "OnDemand",
    licenseModel: "No License required",
    operation: "RunInstances",
    vcpu: String(info?.VCpuInfo?.DefaultVCpus ?? 0),
    memory: `${(info?.MemoryInfo?.SizeInMiB ?? 0) / 1024} GiB`,
    currentGeneration: info?.CurrentGeneration ? "Yes" : "No",
  };
}

/** One entry of the price list as the JSON text that the service returns. */
function entry(world: FakeAwsState, type: string, price: number): string {
  const sku = hexOf(type, 16).toUpperCase();
  const term = `${sku}.JRTCKXETXF`;
  return JSON.stringify({
    product: {
      productFamily: isMetal(type) ? "Compute Instance (bare metal)" : "Compute Instance",
      attributes: attributesOf(world, type),
      sku,
    },
    serviceCode: "AmazonEC2",
    terms: {
      OnDemand: {
        [term]: {
          priceDimensions: {
            [`${term}.6YS6EN2CT7`]: {
              unit: "Hrs",
              endRange: "Inf",
              description: `$${price} per On Demand Linux ${type} Instance Hour`,
              appliesTo: [],
              rateCode: `${term}.6YS6EN2CT7`,
              beginRange: "0",
              pricePerUnit: { USD: price.toFixed(10) },
            },
          },
          sku,
          effectiveDate: "2026-11-01T00:00:00Z",
          offerTermCode: "JRTCKXETXF",
          termAttributes: {},
        },
      },
    },
    version: "20261101000000",
    publicationDate: "2026-11-01T00:00:00Z",
  });
}

/** On-demand Linux prices of the fake's region; a filter on an attribute that is not modelled matches nothing. */
export function getProducts(world: FakeAwsState, request: Record<string, unknown>): unknown {
  if (request["ServiceCode"] !== "AmazonEC2") {
    throw new AwsError("InvalidParameterException", `The service ${String(request["ServiceCode"])} is not found.`);
  }
  const filters = (request["Filters"] ?? []) as readonly PricingFilter[];
  const size = Number(request["MaxResults"] ?? 100);
  if (size < 1 || size > 100) throw new AwsError("InvalidParameterException", "MaxResults must be between 1 and 100.");
  const types = [...world.prices.onDemand.keys()].filter((type) => {
    const attributes: Readonly<Record<string, string>> = {
      ...attributesOf(world, type),
      productFamily: isMetal(type) ? "Compute Instance (bare metal)" : "Compute Instance",
    };
    return filters.every(({ Field = "", Value = "" }) => attributes[Field]?.toLowerCase() === Value.toLowerCase());
  });
  const start = Number(request["NextToken"] ?? 0);
  if (!Number.isInteger(start)) throw new AwsError("InvalidNextTokenException", "The next token is invalid.");
  const end = start + size;
  return {
    FormatVersion: "aws_v1",
    PriceList: types.slice(start, end).map((type) => entry(world, type, world.prices.onDemand.get(type) ?? 0)),
    ...(end < types.length ? { NextToken: String(end) } : {}),
  };
}
