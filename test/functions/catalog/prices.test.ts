import { describe, expect, it } from "vitest";
import { unpackCatalogue } from "#adapters/catalogue/document.ts";
import type { Catalogue } from "#core/offerings/catalogue.ts";
import { type CatalogClusterDeps, catalogEntry } from "#functions/catalog/entry.ts";
import { refreshPrices } from "#functions/catalog/prices.ts";
import type { Settings } from "#functions/shared/cluster-deps.ts";
import { noVisibility } from "../../support/fakes.ts";
import { TestWorld } from "./world.ts";

const NAME = "catalogue/us-west-2";

function stored(world: TestWorld) {
  const document = world.documents.get(NAME);
  if (document === undefined) throw new Error("nothing is stored");
  return unpackCatalogue(document.bytes);
}

describe("refreshPrices", () => {
  it("the account's offerings are stored, new prices over old ones", async () => {
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

  it("what cannot be read stays as it was", async () => {
    const world = new TestWorld();
    for (const part of ["onDemandPrices", "instanceTypeZones"]) world.broken.add(part);
    await refreshPrices(world.deps);
    const catalogue = stored(world);
    expect(catalogue.types).toHaveLength(1345);
    expect(catalogue.onDemand["m5.large"]).toBe(0.096);
    expect(catalogue.spot?.["m5.large"]).toEqual({ "us-west-2a": 0.05 });
    expect(world.errors).toHaveLength(2);
  });

  it("a price that falls below a fifth is used when it has been read twice", async () => {
    const world = new TestWorld();
    await refreshPrices(world.deps);
    const deps = {
      ...world.deps,
      catalogue: async () => stored(world),
      inventory: { ...world.deps.inventory, spotPrices: async () => ({ "m5.large": { "us-west-2a": 0.0001 } }) },
    };
    await refreshPrices(deps);
    expect(stored(world).spot).toEqual({ "m5.large": { "us-west-2a": 0.05 } });
    expect(world.errors).toHaveLength(1);
    await refreshPrices(deps);
    expect(stored(world).spot).toEqual({ "m5.large": { "us-west-2a": 0.0001 } });
    expect(stored(world).held).toBeUndefined();
  });

  it("nothing is stored when nothing could be read", async () => {
    const world = new TestWorld();
    for (const part of ["onDemandPrices", "spotPrices", "instanceTypes"]) world.broken.add(part);
    await expect(refreshPrices(world.deps)).rejects.toThrow(/nothing could be read.*us-west-2/);
    expect(world.documents.size).toBe(0);
  });
});

describe("refreshPrices of a region that is not bundled", () => {
  const elsewhere = (region: string) => {
    const world = new TestWorld();
    const empty: Catalogue = { region, zones: [], types: [], onDemand: {}, asOf: "never" };
    const written = () => {
      const { bytes } = world.documents.get(`catalogue/${region}`) ?? {};
      return bytes ? unpackCatalogue(bytes) : empty;
    };
    const refresh = (settings: Partial<Settings> = {}) =>
      refreshPrices({ ...world.deps, catalogue: async () => written(), settings: { ...world.deps.settings, ...settings } });
    return { world, written, refresh };
  };

  it("a region that is not bundled uses the prices that were read", async () => {
    const { written, refresh } = elsewhere("eu-central-1");
    await refresh();
    expect(written()).toMatchObject({ region: "eu-central-1", onDemand: { "m5.large": 0.1 } });
    expect(written().standIn).toBeUndefined();
  });

  it("prices of us-east-1 are used until the region's own were read, and never mixed with them", async () => {
    const { world, written, refresh } = elsewhere("eu-central-1");
    world.broken.add("onDemandPrices");
    await refresh();
    expect(written()).toMatchObject({ standIn: true, onDemand: { "m5.large": 0.096, "m5.xlarge": 0.192 } });
    world.broken.clear();
    await refresh();
    expect(written().onDemand).toEqual({ "m5.large": 0.1 });
    expect(written().standIn).toBeUndefined();
  });

  it.for([
    { region: "us-gov-west-1", isolatedVpc: false },
    { region: "eu-central-1", isolatedVpc: true },
  ])("the Price List API is not called in $region, isolated: $isolatedVpc", async ({ region, isolatedVpc }) => {
    const { world, written, refresh } = elsewhere(region);
    await refresh({ isolatedVpc });
    expect(world.calls).not.toContain("onDemandPrices");
    expect(written()).toMatchObject({ standIn: true, spot: { "m5.large": { "us-west-2a": 0.05 } } });
    expect(world.errors).toEqual([]);
  });

  it("without a known type it fails with a sentence", async () => {
    const { world, written, refresh } = elsewhere("eu-central-1");
    world.broken.add("instanceTypes");
    await expect(refresh()).rejects.toThrow(/no instance type of region eu-central-1 could be read, and none is bundled/);
    expect(written().asOf).toBe("never");
  });
});

describe("catalogEntry", () => {
  const hostOf = ({ deps }: TestWorld) => ({ wakeUps: deps.wakeUps, later: () => () => {}, log: deps.log, changeVisibility: noVisibility });
  function entryOf(world: TestWorld) {
    const deps = { ...world.deps, inventory: world.inventory } as unknown as CatalogClusterDeps;
    return catalogEntry({ clusters: async () => ["prod"], clusterDeps: async () => deps, ...hostOf(world) });
  }

  it("offerings are read on schedule, and on the first sweep of a deployment without any", async () => {
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

  it("offerings are read once per account, and accounts are kept apart", async () => {
    const [own, theirs] = [new TestWorld(), new TestWorld()];
    const depsOf = new Map([
      ["a", { ...own.deps, inventory: own.inventory }],
      ["b", { ...own.deps, inventory: own.inventory }],
      ["c", { ...theirs.deps, account: "222233334444", store: own.deps.store, inventory: theirs.inventory }],
    ]);
    const clusterDeps = async (name: string) => depsOf.get(name) as unknown as CatalogClusterDeps;
    const handle = catalogEntry({ clusters: async () => ["a", "b", "c"], clusterDeps, ...hostOf(own) });
    theirs.broken.add("spotPrices");
    await handle({ kind: "prices" });
    expect(own.calls.filter((call) => call === "spotPrices")).toHaveLength(1);
    expect([...own.documents.keys()].sort()).toEqual(["catalogue/us-west-2", "catalogue/us-west-2/222233334444"]);
  });

  it("a cluster whose role is gone does not keep the account's offerings from being read", async () => {
    const [gone, other] = [new TestWorld(), new TestWorld()];
    for (const part of ["onDemandPrices", "spotPrices", "instanceTypes"]) gone.broken.add(part);
    const depsOf = new Map([
      ["gone", { ...gone.deps, store: other.deps.store, inventory: gone.inventory }],
      ["other", { ...other.deps, inventory: other.inventory }],
    ]);
    const clusterDeps = async (name: string) => depsOf.get(name) as unknown as CatalogClusterDeps;
    const handle = catalogEntry({ clusters: async () => ["gone", "other"], clusterDeps, ...hostOf(other) });
    await handle({ kind: "prices" });
    expect([...other.documents.keys()]).toEqual(["catalogue/us-west-2"]);
    expect(other.calls).toContain("spotPrices");
  });

  it("ARC is asked for zonal shifts on each sweep, if the settings say so", async () => {
    for (const zonalShift of [false, true]) {
      const world = new TestWorld();
      const asked: string[] = [];
      const cluster = { ...world.deps.cluster, arn: "arn:aws:eks:us-west-2:111122223333:cluster/prod" };
      const arc = {
        awayFrom: async (arn: string) => {
          asked.push(arn);
          return [];
        },
      };
      const settings = { ...world.deps.settings, zonalShift };
      const deps = { ...world.deps, cluster, settings, inventory: world.inventory, zonalShift: arc };
      const handle = catalogEntry({
        clusters: async () => ["prod"],
        clusterDeps: async () => deps as unknown as CatalogClusterDeps,
        ...hostOf(world),
      });
      await handle({ kind: "sweep" });
      expect(asked).toEqual(zonalShift ? [cluster.arn] : []);
    }
  });

  it("a sweep does not fail for offerings, and waits before it tries them again", async () => {
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
