import type { InstanceType } from "../../model/instance-type.ts";
import { NODE_POOL } from "../../model/labels.ts";
import type { NodeClaim } from "../../model/node-claim.ts";
import type { NodePool } from "../../model/node-pool.ts";
import { micros } from "../../model/prices.ts";
import type { Resources } from "../../model/quantity.ts";
import type { Snapshot } from "../../model/snapshot.ts";
import { maxPricePerHour } from "../../node-pool/max-price.ts";
import { mostPerHour } from "../../offerings/dearest.ts";
import { machinesOf, type NodeView, nodeViews } from "./node-view.ts";

/**
 * Price caps among a pool's limits, under names that no resource has: what the nodes of the pool may cost together, and
 * those of all pools.
 */
export const POOL_PRICE = "$ an hour of the NodePool";
export const CLUSTER_PRICE = "$ an hour of the cluster";

/** Whether a limit is a price cap. */
export const isPriceLimit = (name: string): boolean => name === POOL_PRICE || name === CLUSTER_PRICE;

const NO_TYPES: readonly InstanceType[] = [];

/** A NodeClaim that has no instance yet, and will get one. */
export function isToBeLaunched({ metadata, status }: NodeClaim): boolean {
  return !status?.providerID && !metadata.deletionTimestamp;
}

/**
 * What price caps leave beside nodes, by pool: under POOL_PRICE what its annotation leaves, under CLUSTER_PRICE what
 * the cap of the cluster or of the stack leaves, in millionths of a dollar an hour. Empty for a pool without a cap.
 */
export function priceCapsLeft(snapshot: Snapshot, views: readonly NodeView[]): (pool: NodePool) => Resources {
  const { priceCap, nodePools } = snapshot;
  if (priceCap === undefined && nodePools.every((pool) => maxPricePerHour(pool) === undefined)) return () => ({});
  const prices = pricesByPool(snapshot, views);
  const ofAll = priceCap && micros(priceCap.perHour) - micros(priceCap.elsewhere) - sumOf(prices.values());
  return (pool) => {
    const cap = maxPricePerHour(pool);
    return {
      ...(cap !== undefined && { [POOL_PRICE]: micros(cap) - (prices.get(pool.metadata.name) ?? 0) }),
      ...(ofAll !== undefined && { [CLUSTER_PRICE]: ofAll }),
    };
  };
}

/**
 * By pool, what its nodes cost together at most, in millionths of a dollar an hour: those that run, those on their way
 * (each as the most expensive that it may become), without those that are being removed, as limits count.
 */
export function pricesByPool(snapshot: Snapshot, views: readonly NodeView[]): ReadonlyMap<string, number> {
  const known = new Map(snapshot.nodePools.map(({ metadata }) => [metadata.name, 0]));
  const add = (pool: string | undefined, machine: object, labels: Readonly<Record<string, string>>, claim: NodeClaim | undefined): void => {
    const before = pool === undefined ? undefined : known.get(pool);
    if (pool === undefined || before === undefined) return;
    const types = snapshot.instanceTypes.get(pool) ?? NO_TYPES;
    const last = priced.get(machine);
    const price = last?.types === types ? last.price : micros(mostPerHour({ labels, requirements: claim?.spec.requirements ?? [] }, types));
    priced.set(machine, { types, price });
    known.set(pool, before + price);
  };
  for (const view of machinesOf(views)) if (!view.markedForDeletion) add(view.nodePool, view, view.labels, view.claim);
  for (const claim of snapshot.nodeClaims) {
    const { labels = {} } = claim.metadata;
    if (isToBeLaunched(claim)) add(labels[NODE_POOL], claim, labels, claim);
  }
  return known;
}

/** Prices of nodes and NodeClaims: a consolidation pass makes hundreds of problems of one snapshot. */
const priced = new WeakMap<object, { readonly types: readonly InstanceType[]; readonly price: number }>();

/** What all nodes of NodePools cost together at most, counted as caps count them, USD per hour. */
export function priceOfNodes(snapshot: Snapshot): number {
  return sumOf(pricesByPool(snapshot, nodeViews(snapshot)).values()) / 1e6;
}

/** The sum of some amounts. */
export const sumOf = (amounts: Iterable<number>): number => [...amounts].reduce((total, amount) => total + amount, 0);
