import { setImmediate as turn } from "node:timers/promises";
import { afterEach, beforeEach, expect, it } from "vitest";
import { managedObjects } from "#adapters/kubernetes/managed-objects.ts";
import { embeddedNodeClaimStore } from "#adapters/store/embedded-store.ts";
import type { Lease } from "#core/model/lease.ts";
import type { Pod } from "#core/model/pod.ts";
import type { Kubernetes } from "#core/ports/kubernetes.ts";
import { LEASE_TTL_MS, LeaseLostError, withLease } from "#functions/shared/lease.ts";
import { type VirtualClock, virtualClock } from "#lab/world/clock.ts";
import { nodeClaim, pod, record } from "../../support/objects.ts";

const CLUSTER = { name: "c1", endpoint: "", caBundle: "" };
/** Several times the length of a lease. */
const LONG_MS = 100_000;

let store: ReturnType<typeof embeddedNodeClaimStore>;
let clock: VirtualClock;
beforeEach(() => {
  store = embeddedNodeClaimStore();
  clock = virtualClock(0);
});
afterEach(() => store.close());

/** The ports of a function. `isFrozen`: its timers stand still. */
function holder(isFrozen = false) {
  const evicted: string[] = [];
  const port = { evict: async ({ metadata }: Pod) => void evicted.push(metadata.name) };
  const kubernetes = managedObjects(port as unknown as Kubernetes);
  const later = (ms: number, work: () => void | Promise<void>) => {
    const timer = isFrozen ? { cancel() {} } : clock.after(ms, "timer", work);
    return () => timer.cancel();
  };
  return { evicted, deps: { cluster: CLUSTER, kubernetes, store, later, now: clock.now, newId: () => `holder-${isFrozen}` } };
}

const taken = () => store.acquireLease("c1", "another", clock.now(), LEASE_TTL_MS);

/** Plays `work` under the lease, at time 0. */
async function play(work: Parameters<typeof withLease>[1], deps: Parameters<typeof withLease>[0]): Promise<{ error?: unknown }> {
  const outcome: { error?: unknown } = {};
  clock.after(0, "decision", async () => {
    await withLease(deps, work).catch((error: unknown) => {
      outcome.error = error;
    });
  });
  await clock.run();
  return outcome;
}

it("nobody else gets the lease while its holder works, however long that takes", async () => {
  const { deps } = holder();
  const others: (Lease | undefined)[] = [];
  for (let at = 1; at < LONG_MS; at += 7_000) clock.at(at, "another", async () => void others.push(await taken()));
  const { error } = await play(async (lease, { store }) => {
    await clock.sleep(LONG_MS);
    await store.writeIntents(lease, [record("a", { now: 0, manifest: nodeClaim("a", { uid: "uid-a" }) })]);
  }, deps);
  expect([error, others.filter((lease) => lease !== undefined)]).toEqual([undefined, []]);
  expect(await store.list("c1")).toHaveLength(1);
});

it("the lease is free and no timer is left when its holder has ended, also with an error", async () => {
  const { deps } = holder();
  const { error } = await play(() => Promise.reject(new Error("no network")), deps);
  expect(error).toEqual(new Error("no network"));
  expect([await taken(), clock.pending()]).toEqual([expect.objectContaining({ token: 2 }), []]);
});

it("a holder whose lease was taken while it was frozen stops before its next write", async () => {
  const { deps, evicted } = holder(true);
  clock.at(LEASE_TTL_MS + 1, "another", async () => void (await taken()));
  const { error } = await play(async (_lease, { kubernetes }) => {
    await clock.sleep(LEASE_TTL_MS + 2);
    await kubernetes.evict(pod("p"));
  }, deps);
  expect(error).toBeInstanceOf(LeaseLostError);
  expect(evicted).toEqual([]);
});

it("a holder that was frozen past its lease goes on when nobody has taken it", async () => {
  const { deps, evicted } = holder(true);
  const others: (Lease | undefined)[] = [];
  clock.at(LEASE_TTL_MS + 3, "another", async () => void others.push(await taken()));
  const { error } = await play(async (_lease, { kubernetes }) => {
    await clock.sleep(LEASE_TTL_MS + 2);
    await kubernetes.evict(pod("p"));
    await clock.sleep(2);
  }, deps);
  expect([error, evicted, others]).toEqual([undefined, ["p"], [undefined]]);
});

it("a renewal that the table refuses is made up for by the next", async () => {
  const { deps } = holder();
  let failures = 1;
  const flaky = {
    ...store,
    renewLease: (...args: Parameters<typeof store.renewLease>) =>
      failures-- > 0 ? Promise.reject(new Error("throttled")) : store.renewLease(...args),
  };
  const others: (Lease | undefined)[] = [];
  clock.at(LEASE_TTL_MS + 5, "another", async () => void others.push(await taken()));
  await play(() => clock.sleep(LEASE_TTL_MS + 10), { ...deps, store: flaky });
  expect(others).toEqual([undefined]);
});

it("a holder that hangs for ever loses its lease in the end", async () => {
  const { deps } = holder();
  clock.after(0, "decision", async () => {
    void withLease(deps, () => new Promise(() => {}));
    // The clock does not wait for the holder, so the lease is taken first.
    await turn();
  });
  await clock.run({ until: LONG_MS });
  expect(await taken()).toBeUndefined();
  await clock.run({ until: 2 * LONG_MS });
  expect(await taken()).toBeDefined();
});
