import { NODE_POOL } from "../model/labels.ts";
import type { NodeClaimRecord } from "../model/node-claim-record.ts";
import type { EC2NodeClass } from "../model/node-class.ts";
import type { Snapshot } from "../model/snapshot.ts";
import { type DriftReason, driftReason } from "./detect.ts";

/**
 * NodeClaim name to the reason for which it has drifted, or undefined for one that has not: what its condition Drifted shall say. Claims
 * whose pool is gone are left out: nothing can be said about them.
 */
export function driftedClaims(input: {
  readonly snapshot: Snapshot;
  readonly records: readonly NodeClaimRecord[];
  readonly nodeClasses: readonly EC2NodeClass[];
  /** Milliseconds since the epoch. */
  readonly now: number;
}): ReadonlyMap<string, DriftReason | undefined> {
  const { snapshot, now } = input;
  const pools = new Map(snapshot.nodePools.map((pool) => [pool.metadata.name, pool]));
  const classes = new Map(input.nodeClasses.map((nodeClass) => [nodeClass.metadata.name, nodeClass]));
  const records = new Map(input.records.map((record) => [record.name, record]));
  const drifted = new Map<string, DriftReason | undefined>();
  for (const claim of snapshot.nodeClaims) {
    const nodePool = pools.get(claim.metadata.labels?.[NODE_POOL] ?? "");
    if (!nodePool) continue;
    const instance = records.get(claim.metadata.name)?.instance;
    const reason = driftReason({
      claim,
      nodePool,
      nodeClass: classes.get(nodePool.spec.template.spec.nodeClassRef.name),
      instanceTypes: snapshot.instanceTypes.get(nodePool.metadata.name) ?? [],
      ...(instance ? { instance } : {}),
      now,
    });
    drifted.set(claim.metadata.name, reason);
  }
  return drifted;
}
