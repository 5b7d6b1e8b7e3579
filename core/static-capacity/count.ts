import { type CommandRecord, disruptingClaims } from "../model/command-record.ts";
import { NODE_POOL } from "../model/labels.ts";
import type { NodeClaim } from "../model/node-claim.ts";
import type { NodeClaimRecord } from "../model/node-claim-record.ts";

/** A static pool's claims, by what becomes of them. A claim counts from its intent on. */
export interface ReplicaCount {
  /** Names of those that stay, sorted. */
  readonly active: readonly string[];
  readonly deleting: number;
  /** Those that a running command replaces: their replacements are active already. */
  readonly beingReplaced: number;
}

/** What is known of a cluster's claims. */
export interface ClaimFacts {
  readonly claims: readonly NodeClaim[];
  readonly records: readonly NodeClaimRecord[];
  readonly commands: readonly CommandRecord[];
}

/** Counts the claims of each pool that has any, by pool name. */
export function countReplicas({ claims, records, commands }: ClaimFacts): ReadonlyMap<string, ReplicaCount> {
  const pools = new Map<string, string>();
  const going = new Set<string>();
  for (const { metadata } of claims) {
    const pool = metadata.labels?.[NODE_POOL];
    if (pool !== undefined) pools.set(metadata.name, pool);
    if (metadata.deletionTimestamp !== undefined) going.add(metadata.name);
  }
  for (const { name, nodePool, terminating } of records) {
    if (nodePool !== undefined) pools.set(name, nodePool);
    if (terminating) going.add(name);
  }
  const replaced = disruptingClaims(commands);
  return new Map(
    [...Map.groupBy(pools.keys(), (name) => pools.get(name) ?? "")].map(([pool, names]) => {
      const staying = names.filter((name) => !going.has(name));
      const active = staying.filter((name) => !replaced.has(name)).sort();
      return [pool, { active, deleting: names.length - staying.length, beingReplaced: staying.length - active.length }];
    }),
  );
}
