import { describe, expect, it } from "vitest";
import type { Catalogue } from "../../../../core/offerings/catalogue.ts";
import { bundledCatalogue } from "../../../../functions/adapters/catalogue/bundled.ts";
import { packCatalogue } from "../../../../functions/adapters/catalogue/document.ts";
import { catalogueSource } from "../../../../functions/adapters/catalogue/source.ts";

function memory() {
  let document: { bytes: Uint8Array; version: string } | undefined;
  const state = { reads: 0, versions: 0, broken: false };
  return {
    state,
    put: (catalogue: Catalogue, version: string) => {
      document = { bytes: packCatalogue(catalogue), version };
    },
    async documentVersion() {
      state.versions += 1;
      if (state.broken) throw new Error("out of reach");
      return document?.version;
    },
    async getDocument() {
      state.reads += 1;
      return document;
    },
  };
}

const small: Catalogue = { region: "us-west-2", zones: [], types: [], onDemand: { "m5.large": 1 }, asOf: "2026-11-21" };

describe("catalogueSource", () => {
  it("serves the bundled catalogue until one is stored, and then that", async () => {
    const store = memory();
    let now = 0;
    const source = catalogueSource(store, "us-west-2", () => now);
    expect((await source()).asOf).toBe(bundledCatalogue("us-west-2").asOf);
    store.put(small, "1");
    expect(await source()).not.toEqual(small);
    now += 60_000;
    expect(await source()).toEqual(small);
  });

  it("reads the document once for a version, and gives out the same value", async () => {
    const store = memory();
    store.put(small, "1");
    let now = 0;
    const source = catalogueSource(store, "us-west-2", () => now);
    const [a, b] = await Promise.all([source(), source()]);
    now += 60_000;
    expect(a).toBe(b);
    expect(await source()).toBe(a);
    expect(store.state).toMatchObject({ reads: 1, versions: 2 });
  });

  it("keeps its copy while the store is out of reach, and fails if it has none", async () => {
    const store = memory();
    store.put(small, "1");
    let now = 0;
    const source = catalogueSource(store, "us-west-2", () => now);
    await source();
    store.state.broken = true;
    now += 60_000;
    expect(await source()).toEqual(small);
    await expect(catalogueSource(store, "us-west-2", () => 0)()).rejects.toThrow("out of reach");
  });

  it("knows nothing of a region that is neither stored nor bundled", async () => {
    expect(await catalogueSource(memory(), "mars-north-1", () => 0)()).toMatchObject({ region: "mars-north-1", types: [] });
  });
});
