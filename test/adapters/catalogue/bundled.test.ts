import { describe, expect, it } from "vitest";
import { BUNDLED_REGIONS, bundledCatalogue, bundledLimits } from "#adapters/catalogue/bundled.ts";

describe("bundledCatalogue", () => {
  it.for([
    { region: "us-west-2", types: 1345, zones: 4, prices: 1309 },
    { region: "us-east-1", types: 1366, zones: 6, prices: 1340 },
    { region: "ap-northeast-2", types: 754, zones: 4, prices: 742 },
  ])("the catalogue of $region has as many types and prices as its README says", ({ region, types, zones, prices }) => {
    const catalogue = bundledCatalogue(region);
    expect(catalogue).toMatchObject({ region, asOf: "2026-10-27" });
    expect([catalogue.types.length, catalogue.zones.length, Object.keys(catalogue.onDemand).length]).toEqual([types, zones, prices]);
    expect(catalogue.onDemand["m5.large"]).toBeGreaterThan(0);
    expect(catalogue.spot).toBeUndefined();
    expect(catalogue.synthetic).toBeUndefined();
  });

  it("invented spot prices are marked as synthetic", () => {
    for (const region of BUNDLED_REGIONS) {
      const catalogue = bundledCatalogue(region, { withSyntheticSpot: true });
      expect(catalogue.synthetic).toBe(true);
      const zone = catalogue.zones[0]?.name ?? "";
      expect(catalogue.spot?.["c5.large"]?.[zone]).toBeLessThan(catalogue.onDemand["c5.large"] ?? 0);
    }
  });

  it("an unknown region throws a sentence with the bundled regions", () => {
    expect(() => bundledCatalogue("mars-north-1")).toThrow(/"mars-north-1".*us-west-2, us-east-1, ap-northeast-2/);
  });

  it("limits that EC2 does not return are bundled", () => {
    expect(bundledLimits()["m5.large"]).toEqual({ podEni: 9, ipv4PerEni: 10, networkMbps: 750 });
  });
});
