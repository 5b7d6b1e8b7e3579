import { type CommandRecord, disruptingClaims } from "../model/command-record.ts";
import { NODE_POOL } from "../model/labels.ts";
import type { NodeClaim } from "../model/node-claim.ts";
import type { NodeClaimRecord } from "../model/node-claim-record.ts";

/** The NodeClaims of a static pool. A claim counts as soon as its record is written. */
export interface ReplicaCount {
  /** Names of the claims that are neither deleting nor being replaced, sorted. */
  readonly active: readonly string[];
  readonly deleting: number;
  /** Claims that a command is replacing; their replacements are among `active`. */
  readonly beingReplaced: number;
}

/** The NodeClaims of a cluster, with their records and the commands under way. */
export interface ClaimFacts {
  readonly claims: readonly NodeClaim[];
  readonly records: readonly NodeClaimRecord[];
  readonly commands: readonly CommandRecord[];
}

/** Counts the claims of each pool that has any, by pool name. */
export function countReplicas({ claims, records, commands }: ClaimFacts): ReadonlyMap<string, ReplicaCount> {
  const pools = new Map<string, string>();
  const deleted = new Set<string>();
  for (const { metadata } of claims) {
    const pool = metadata.labels?.[NODE_POOL];
    if (pool !== undefined) pools.set(metadata.name, pool);
    if (metadata.deletionTimestamp !== undefined) deleted.add(metadata.name);
  }
  for (const { name, nodePool, terminating } of records) {
    if (nodePool !== undefined) pools.set(name, nodePool);
    if (terminating) deleted.add(name);
  }
  const replaced = disruptingClaims(commands);
  return new Map(
    [...Map.groupBy(pools.keys(), (name) => pools.get(name) ?? "")].map(([pool, names]) => {
      const staying = names.filter((name) => !deleted.has(name));
      const active = staying.filter((name) => !replaced.has(name)).sort();
      return [pool, { active, deleting: names.length - staying.length, beingReplaced: staying.length - active.length }];
    }),
  );
}
