import { describe, expect, it } from "vitest";
import { unpackCatalogue } from "../../../functions/adapters/catalogue/document.ts";
import { catalogEntry } from "../../../functions/catalog/entry.ts";
import { refreshPrices } from "../../../functions/catalog/prices.ts";
import { TestWorld } from "./world.ts";

const NAME = "catalogue/us-west-2";

function stored(world: TestWorld) {
  const document = world.documents.get(NAME);
  if (document === undefined) throw new Error("nothing is stored");
  return unpackCatalogue(document.bytes);
}

describe("refreshPrices", () => {
  it("stores what the account offers, new prices over old ones", async () => {
    const world = new TestWorld();
    await refreshPrices(world.deps);
    const catalogue = stored(world);
    expect(catalogue.types).toMatchObject([{ name: "m5.large", zones: ["us-west-2a", "us-west-2b"], podEni: 9, networkMbps: 750 }]);
    expect(catalogue.zones.map(({ name }) => name)).toEqual(["us-west-2a", "us-west-2b"]);
    expect(catalogue.onDemand).toMatchObject({ "m5.large": 0.1, "m5.xlarge": 0.192 });
    expect(catalogue.spot).toEqual({ "m5.large": { "us-west-2a": 0.05 } });
    expect(catalogue.asOf).toBe("2026-11-21T12:00:00.000Z");
    expect(world.documents.get(NAME)?.version).toBe(catalogue.asOf);
  });

  it("keeps what cannot be read", async () => {
    const world = new TestWorld();
    for (const part of ["onDemandPrices", "instanceTypeZones"]) world.broken.add(part);
    await refreshPrices(world.deps);
    const catalogue = stored(world);
    expect(catalogue.types).toHaveLength(1345);
    expect(catalogue.onDemand["m5.large"]).toBe(0.096);
    expect(catalogue.spot?.["m5.large"]).toEqual({ "us-west-2a": 0.05 });
    expect(world.errors).toHaveLength(2);
  });

  it("stores nothing when nothing could be read", async () => {
    const world = new TestWorld();
    for (const part of ["onDemandPrices", "spotPrices", "instanceTypes"]) world.broken.add(part);
    await expect(refreshPrices(world.deps)).rejects.toThrow(/nothing could be read.*us-west-2/);
    expect(world.documents.size).toBe(0);
  });
});

describe("catalogEntry", () => {
  function entryOf(world: TestWorld) {
    const deps = world.deps as unknown as NonNullable<Awaited<ReturnType<Parameters<typeof catalogEntry>[0]["clusterDeps"]>>>;
    return catalogEntry({ clusters: ["prod"], clusterDeps: async () => deps, log: world.deps.log, inventory: world.inventory });
  }

  it("reads offerings when the schedule says so, and on the first sweep of a deployment that has none", async () => {
    const world = new TestWorld();
    const handle = entryOf(world);
    await handle({ kind: "sweep" });
    expect(world.documents.size).toBe(1);
    world.calls.length = 0;
    await handle({ kind: "sweep" });
    expect(world.calls).toEqual([]);
    await handle({ kind: "prices" });
    expect(world.calls).toContain("spotPrices");
  });

  it("does not fail a sweep for offerings, and waits before it tries them again", async () => {
    const world = new TestWorld();
    for (const part of ["onDemandPrices", "spotPrices", "instanceTypes"]) world.broken.add(part);
    const handle = entryOf(world);
    await handle({ kind: "sweep" });
    world.calls.length = 0;
    await handle({ kind: "sweep" });
    expect(world.calls).toEqual([]);
    world.now += 10 * 60_000;
    await handle({ kind: "sweep" });
    expect(world.calls).toContain("spotPrices");
  });
});
