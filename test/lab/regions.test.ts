import { expect, it } from "vitest";
import { BUNDLED_REGIONS, bundledCatalogue } from "#adapters/catalogue/bundled.ts";
import { LAB_REGIONS, labCatalogue, labRegion, pricesOf } from "#lab/regions.ts";

it("every commercial region is played, a region that is not bundled under the names of its own zones", () => {
  expect(new Set(LAB_REGIONS).size).toBe(LAB_REGIONS.length);
  for (const region of LAB_REGIONS) {
    const { zones, types, spot, onDemand } = labCatalogue(region);
    const names = zones.map(({ name }) => name);
    expect(names.every((name) => name.startsWith(region))).toBe(true);
    expect(new Set(types.flatMap((type) => type.zones))).toEqual(new Set(names));
    expect(new Set(Object.values(spot ?? {}).flatMap((prices) => Object.keys(prices)))).toEqual(new Set(names));
    expect(onDemand["m5.large"]).toBeGreaterThan(0);
  }
});

it("a region that is not bundled has the types and prices of its base", () => {
  const frankfurt = labCatalogue("eu-central-1");
  const base = bundledCatalogue("us-west-2");
  expect(frankfurt.zones).toEqual([
    { name: "eu-central-1a", zoneId: "euc1-az1" },
    { name: "eu-central-1b", zoneId: "euc1-az2" },
    { name: "eu-central-1c", zoneId: "euc1-az3" },
  ]);
  expect(frankfurt.onDemand).toEqual(base.onDemand);
  expect(frankfurt.types.length).toBeGreaterThan(0.95 * base.types.length);
  expect(labCatalogue("ap-southeast-2").zones[0]).toEqual({ name: "ap-southeast-2a", zoneId: "apse2-az1" });
  expect(labCatalogue("ap-northeast-1").zones.map(({ name }) => name.at(-1))).toEqual(["a", "c", "d"]);
});

it("output names the region that the prices are of", () => {
  expect(pricesOf("eu-central-1")).toBe("us-west-2, since eu-central-1 is not bundled");
  for (const region of BUNDLED_REGIONS) expect(pricesOf(region)).toBe(region);
});

it("an unknown region is one sentence", () => {
  expect(labRegion("sa-east-1")).toBe("sa-east-1");
  expect(() => labRegion("eu-cental-1")).toThrow("--region: there is no commercial region eu-cental-1; did you mean eu-central-1?");
  expect(() => labRegion("mars")).toThrow(/^--region: there is no commercial region mars; use one of us-west-2, /);
});
