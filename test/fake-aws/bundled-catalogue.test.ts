import { paginateDescribeInstanceTypeOfferings, paginateDescribeInstanceTypes } from "@aws-sdk/client-ec2";
import { describe, expect, it } from "vitest";
import { BUNDLED_REGIONS, bundledCatalogue, bundledLimits } from "#adapters/catalogue/bundled.ts";
import { compactRecord } from "#core/offerings/catalogue.ts";
import { regionCatalogue } from "../e2e/fake-aws/bundled-catalogue.ts";
import { ec2Client, fakeAws } from "./support.ts";

describe("the catalogue that the product carries", () => {
  it.for(BUNDLED_REGIONS)("the bundled catalogue of %s is unchanged after a round trip over the wire", async (region) => {
    const catalogue = regionCatalogue(region);
    const ec2 = ec2Client(await fakeAws({ catalogue }));
    const zones = new Map<string, string[]>();
    for await (const { InstanceTypeOfferings = [] } of paginateDescribeInstanceTypeOfferings(
      { client: ec2, pageSize: 1000 },
      { LocationType: "availability-zone" },
    )) {
      for (const { InstanceType = "", Location = "" } of InstanceTypeOfferings) {
        zones.set(InstanceType, [...(zones.get(InstanceType) ?? []), Location]);
      }
    }
    const { types } = bundledCatalogue(region);
    const limits = bundledLimits();
    const want = new Map(types.map((type) => [type.name, type]));
    let seen = 0;
    for await (const { InstanceTypes = [] } of paginateDescribeInstanceTypes({ client: ec2, pageSize: 100 }, {})) {
      for (const record of InstanceTypes) {
        const name: string = record.InstanceType ?? "";
        expect(compactRecord(record, limits[name], zones.get(name) ?? [])).toEqual(want.get(name));
        seen += 1;
      }
    }
    expect(seen).toBe(types.length);
    expect(seen).toBeGreaterThan(700);
  });
});
