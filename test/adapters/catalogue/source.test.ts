import { describe, expect, it } from "vitest";
import { bundledCatalogue } from "#adapters/catalogue/bundled.ts";
import { packCatalogue } from "#adapters/catalogue/document.ts";
import { catalogueSource } from "#adapters/catalogue/source.ts";
import type { Catalogue } from "#core/offerings/catalogue.ts";
import { recordingLog } from "../../support/fakes.ts";

function memory() {
  let document: { bytes: Uint8Array; version: string } | undefined;
  const state = { reads: 0, versions: 0, broken: false };
  return {
    state,
    put: (catalogue: Catalogue, version: string) => {
      document = { bytes: packCatalogue(catalogue), version };
    },
    putBytes: (bytes: Uint8Array, version: string) => {
      document = { bytes, version };
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
  it("the bundled catalogue is used until one is stored", async () => {
    const store = memory();
    let now = 0;
    const source = catalogueSource({ store, log: recordingLog() }, "us-west-2", () => now);
    expect((await source()).asOf).toBe(bundledCatalogue("us-west-2").asOf);
    store.put(small, "1");
    expect(await source()).not.toEqual(small);
    now += 60_000;
    expect(await source()).toEqual(small);
  });

  it("the document is read once per version, and the same object is returned", async () => {
    const store = memory();
    store.put(small, "1");
    let now = 0;
    const source = catalogueSource({ store, log: recordingLog() }, "us-west-2", () => now);
    const [a, b] = await Promise.all([source(), source()]);
    now += 60_000;
    expect(a).toBe(b);
    expect(await source()).toBe(a);
    expect(store.state).toMatchObject({ reads: 1, versions: 2 });
  });

  it("while the store cannot be reached the copy is used, and without one the read fails", async () => {
    const store = memory();
    store.put(small, "1");
    let now = 0;
    const source = catalogueSource({ store, log: recordingLog() }, "us-west-2", () => now);
    await source();
    store.state.broken = true;
    now += 60_000;
    expect(await source()).toEqual(small);
    await expect(catalogueSource({ store, log: recordingLog() }, "us-west-2", () => 0)()).rejects.toThrow("out of reach");
  });

  it.for([
    { name: "no gzip", bytes: new TextEncoder().encode("catalogue") },
    { name: "no catalogue", bytes: packCatalogue({} as Catalogue) },
  ])("a stored catalogue whose bytes are $name is told and counts as none until the next version", async ({ bytes }) => {
    const store = memory();
    const log = recordingLog();
    store.putBytes(bytes, "1");
    let now = 0;
    const source = catalogueSource({ store, log }, "us-west-2", () => now);
    expect((await source()).asOf).toBe(bundledCatalogue("us-west-2").asOf);
    now += 60_000;
    await source();
    expect(log.errors).toEqual([
      "The catalogue of instance types and prices cannot be read, and counts as absent until it is written again",
    ]);
    store.put(small, "2");
    now += 60_000;
    expect(await source()).toEqual(small);
    store.putBytes(bytes, "3");
    now += 60_000;
    expect(await source()).toEqual(small);
  });

  it("a region that is neither stored nor bundled has an empty catalogue", async () => {
    expect(await catalogueSource({ store: memory(), log: recordingLog() }, "mars-north-1", () => 0)()).toMatchObject({
      region: "mars-north-1",
      types: [],
    });
  });
});
