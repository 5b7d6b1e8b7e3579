import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import type { NodeClaimStore } from "#core/ports/node-claim-store.ts";
import { priceElsewhere, reservePrice, writePrice } from "#functions/shared/stack-price.ts";
import { type ContractCase, casesOnTables } from "../node-claim-store/contract.ts";

type Store = Pick<NodeClaimStore, "getDocument" | "putDocument" | "acquireLease" | "releaseLease">;

const CLUSTERS = ["a", "b", "c", "d", "e"];
/** USD per hour. */
const CAP = 1;
const NODE = 0.3;
/** A cluster whose plan is put off looks again so often; a lease is held for a few requests. */
const TRIES = 10;

/**
 * How the clusters of a stack share a cap in dollars (functions/shared/stack-price.ts), on a table that answers when it
 * likes: names and runs, each with a table of its own. Waits are short, so that the clusters are in each other's way.
 */
export function stackPriceContract(
  open: () => Promise<{ readonly store: Store; readonly close: () => Promise<void> }>,
): readonly ContractCase[] {
  let ids = 0;
  const clusterOn =
    (store: Store, now: () => number = Date.now) =>
    (name: string) => ({
      cluster: { name, endpoint: "", caBundle: "" },
      store: store as NodeClaimStore,
      log: { debug: () => {}, info: () => {}, error: () => {}, with: () => assert.fail("nothing is logged with fields") },
      now,
      newId: () => `holder-${ids++}`,
      sleep: (ms: number) => sleep(ms / 20),
      settings: { stackMaxPricePerHour: CAP },
    });
  /** Buys as `provision` does: a plan that is put off is made again. */
  const bought = async (deps: ReturnType<ReturnType<typeof clusterOn>>): Promise<boolean> => {
    for (let tries = 0; tries < TRIES; tries++) {
      if ((await priceElsewhere(deps)) + NODE > CAP + 1e-9) return false;
      if (await reservePrice(NODE, deps)) return true;
    }
    return false;
  };
  const cases: Readonly<Record<string, (store: Store) => Promise<void>>> = {
    "of five clusters that buy at once, as many buy as the cap allows, and no more": async (store) => {
      const of = clusterOn(store);
      const outcomes = await Promise.all(CLUSTERS.map((name) => bought(of(name))));
      assert.equal(outcomes.filter(Boolean).length, Math.floor(CAP / NODE));
      assert.ok(Math.abs((await priceElsewhere(of("another"))) - 3 * NODE) < 1e-9);
    },
    "what five clusters say at once is kept, each in its turn": async (store) => {
      const of = clusterOn(store);
      const told = async (name: string): Promise<void> => {
        for (let tries = 0; tries < TRIES; tries++) await writePrice(0.01, of(name));
      };
      await Promise.all(CLUSTERS.map(told));
      assert.ok(Math.abs((await priceElsewhere(of("another"))) - 0.05) < 1e-9);
    },
    "a cluster that ends while it holds the stack's lease keeps the others for ten seconds at most": async (store) => {
      let now = 1_700_000_000_000;
      const of = clusterOn(store, () => now);
      const killed = { ...store, putDocument: async () => assert.fail("killed"), releaseLease: async () => assert.fail("killed") };
      await assert.rejects(reservePrice(NODE, { ...of("a"), store: killed as unknown as NodeClaimStore }), /killed/);
      assert.equal(await reservePrice(NODE, of("b")), false);
      now += 10_001;
      assert.equal(await reservePrice(NODE, of("b")), true);
      assert.equal(await priceElsewhere(of("a")), NODE);
    },
    "room that a cluster gives up is another's": async (store) => {
      const of = clusterOn(store);
      assert.equal(await reservePrice(0.9, of("a")), true);
      assert.equal(await reservePrice(NODE, of("b")), false);
      await writePrice(0.1, of("a"));
      assert.equal(await reservePrice(NODE, of("b")), true);
    },
  };
  return casesOnTables("price cap of a stack", cases, open);
}
