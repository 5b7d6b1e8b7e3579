import { jsonBytes, jsonIn } from "#adapters/store/json-bytes.ts";
import { readDocument } from "#adapters/store/read-document.ts";
import type { Log } from "#core/ports/log.ts";
import type { NodeClaimStore } from "#core/ports/node-claim-store.ts";
import { sumOf } from "#core/scheduling/problem/price-caps.ts";
import type { ClusterDeps } from "./cluster-deps.ts";

/**
 * What the clusters of a stack cost, for STACK_MAX_PRICE_PER_HOUR. The table has one document with the present price of
 * each cluster. Who buys takes a lease of the whole stack while it reads the others' prices again
 * and writes its own, before its intents: so no two clusters buy into the same room. Nothing is read or written where
 * the setting is not given.
 */

type StackDeps = Pick<ClusterDeps, "cluster" | "store" | "log" | "now" | "newId" | "sleep"> & {
  readonly settings: Pick<ClusterDeps["settings"], "stackMaxPricePerHour">;
};

/** What a cluster's nodes cost, USD per hour, and when that was written, ms since the epoch. */
interface ClusterPrice {
  readonly perHour: number;
  readonly at: number;
}

const DOCUMENT = "price/clusters";
/** No cluster has this name, so it is the stack's. */
const STACK = "*";
const LEASE_MS = 10_000;
/** How often and how long a lease is waited for that others hold for a few requests. */
const TRIES = 5;
const WAIT_MS = 200;
/** A cluster writes its price again after this time, and counts as gone when it has not for a day. */
const REPEAT_MS = 30 * 60_000;
const GONE_MS = 24 * 60 * 60_000;
/** Smaller changes are written with the next larger one, USD per hour. */
const TOLERANCE = 0.001;

/** Where no table is read, as by a command without the stack, nothing is known of other clusters. */
type PricesDeps = Pick<StackDeps, "now"> & { readonly store: Partial<Pick<NodeClaimStore, "getDocument">>; readonly log?: Log };

async function readPrices({ store: { getDocument }, log, now }: PricesDeps): Promise<ReadonlyMap<string, ClusterPrice>> {
  if (getDocument === undefined) return new Map();
  const reading = { name: DOCUMENT, what: "What the clusters of the stack cost", parse: parsed };
  const known = (await readDocument({ store: { getDocument }, ...(log && { log }) }, reading))?.value ?? new Map<string, ClusterPrice>();
  return new Map([...known].filter(([, { at }]) => now() - at < GONE_MS));
}

function parsed(bytes: Uint8Array): ReadonlyMap<string, ClusterPrice> | undefined {
  const read = new Map(Object.entries(jsonIn(bytes) as Readonly<Record<string, ClusterPrice>>));
  return [...read.values()].every(({ perHour, at }) => Number.isFinite(perHour) && Number.isFinite(at)) ? read : undefined;
}

const others = (prices: ReadonlyMap<string, ClusterPrice>, cluster: string): number =>
  sumOf([...prices].map(([name, { perHour }]) => (name === cluster ? 0 : perHour)));

/** What the nodes of the stack's other clusters cost, USD per hour; 0 where the stack has no cap. */
export async function priceElsewhere(deps: PricesDeps & Pick<StackDeps, "cluster" | "settings">): Promise<number> {
  return deps.settings.stackMaxPricePerHour === undefined ? 0 : others(await readPrices(deps), deps.cluster.name);
}

/**
 * Writes what the cluster will cost with what it is about to buy, USD per hour. False when it must not buy: other
 * clusters have bought since it looked, or are about to.
 */
export async function reservePrice(perHour: number, deps: StackDeps): Promise<boolean> {
  const cap = deps.settings.stackMaxPricePerHour;
  if (cap === undefined) return true;
  return (
    (await withStackLease(deps, async () => {
      const prices = await readPrices(deps);
      if (others(prices, deps.cluster.name) + perHour > cap + TOLERANCE) return false;
      await write(prices, perHour, deps);
      return true;
    })) ?? false
  );
}

/** Writes what the cluster costs now, USD per hour, when it has changed since it was last written. */
export async function writePrice(perHour: number, deps: StackDeps): Promise<void> {
  if (deps.settings.stackMaxPricePerHour === undefined) return;
  const known = (await readPrices(deps)).get(deps.cluster.name);
  if (known !== undefined && deps.now() - known.at < REPEAT_MS && Math.abs(known.perHour - perHour) < TOLERANCE) return;
  await withStackLease(deps, async () => write(await readPrices(deps), perHour, deps));
}

async function write(prices: ReadonlyMap<string, ClusterPrice>, perHour: number, { cluster, store, now }: StackDeps): Promise<void> {
  const all = Object.fromEntries([...prices, [cluster.name, { perHour, at: now() }]]);
  await store.putDocument(DOCUMENT, jsonBytes(all), String(now()));
}

/** Undefined while other clusters hold the lease. */
async function withStackLease<T>({ store, now, newId, sleep }: StackDeps, work: () => Promise<T>): Promise<T | undefined> {
  for (let tries = 1; tries <= TRIES; tries++) {
    const lease = await store.acquireLease(STACK, newId(), now(), LEASE_MS);
    if (lease !== undefined) {
      try {
        return await work();
      } finally {
        await store.releaseLease(lease);
      }
    }
    if (tries < TRIES) await sleep(WAIT_MS);
  }
  return undefined;
}
