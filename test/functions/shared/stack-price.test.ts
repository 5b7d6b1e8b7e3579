import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { embeddedNodeClaimStore } from "#adapters/store/embedded-store.ts";
import { ProcessMemory } from "#functions/shared/process-memory.ts";
import { priceElsewhere, reservePrice, writePrice } from "#functions/shared/stack-price.ts";
import { recordingLog } from "../../support/fakes.ts";

const HOUR = 60 * 60_000;

let store: ReturnType<typeof embeddedNodeClaimStore>;
let now = 0;
let ids = 0;
beforeEach(() => {
  store = embeddedNodeClaimStore();
  now = 0;
});
afterEach(() => store.close());

/** The ports of a cluster of a stack that may cost a dollar an hour. */
const cluster = (name: string, cap: number | undefined = 1) => ({
  ...{
    cluster: { name, endpoint: "", caBundle: "" },
    memory: new ProcessMemory(),
    store,
    log: recordingLog(),
    now: () => now,
    newId: () => String(ids++),
  },
  sleep: async (ms: number) => {
    now += ms;
  },
  settings: { stackMaxPricePerHour: cap },
});

describe("what the clusters of a stack cost together", () => {
  it("each cluster sees what the others have said, and not what it has said itself", async () => {
    await writePrice(0.3, cluster("a"));
    await writePrice(0.2, cluster("b"));
    expect([await priceElsewhere(cluster("a")), await priceElsewhere(cluster("b")), await priceElsewhere(cluster("c"))]).toEqual([
      0.2, 0.3, 0.5,
    ]);
  });

  it("of two clusters that want the same room, one buys, whoever has looked first", async () => {
    await writePrice(0.5, cluster("a"));
    const bought = await Promise.all(["b", "c"].map((name) => reservePrice(0.4, cluster(name))));
    expect(bought.toSorted()).toEqual([false, true]);
    expect(await priceElsewhere(cluster("d"))).toBeCloseTo(0.9);
  });

  it("a cluster that costs less makes room for another", async () => {
    expect(await reservePrice(0.9, cluster("a"))).toBe(true);
    expect(await reservePrice(0.2, cluster("b"))).toBe(false);
    await writePrice(0.7, cluster("a"));
    expect(await reservePrice(0.2, cluster("b"))).toBe(true);
  });

  it("nothing is bought while another cluster holds the stack's lease, which its end releases", async () => {
    await store.acquireLease("*", "killed", now, 10_000);
    expect(await reservePrice(0.1, cluster("a"))).toBe(false);
    now = 10_001;
    expect(await reservePrice(0.1, cluster("a"))).toBe(true);
  });

  it("a cluster that has said nothing for a day counts as gone", async () => {
    await writePrice(0.9, cluster("a"));
    now = 23 * HOUR;
    expect(await priceElsewhere(cluster("b"))).toBe(0.9);
    now = 24 * HOUR;
    expect(await priceElsewhere(cluster("b"))).toBe(0);
  });

  it("what has not changed is written again after half an hour only", async () => {
    const writes: string[] = [];
    const counting = { ...cluster("a"), store: { ...store, putDocument: async (name: string) => void writes.push(name) } };
    await writePrice(0.5, cluster("a"));
    await writePrice(0.5, counting);
    expect(writes).toEqual([]);
    now = HOUR / 2;
    await writePrice(0.5, counting);
    expect(writes).toHaveLength(1);
  });

  it("without the setting nothing is read or written", async () => {
    const none = { ...cluster("a"), settings: { stackMaxPricePerHour: undefined }, store: undefined as unknown as typeof store };
    expect(await reservePrice(1e9, none)).toBe(true);
    expect(await priceElsewhere(none)).toBe(0);
    await writePrice(1, none);
  });
});
