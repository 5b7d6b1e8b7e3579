import { NODE_POOL } from "../model/labels.ts";
import type { NodeClaimRecord } from "../model/node-claim-record.ts";
import type { EC2NodeClass } from "../model/node-class.ts";
import type { Snapshot } from "../model/snapshot.ts";
import { type DriftReason, driftReason } from "./detect.ts";

/**
 * The drift of every NodeClaim, by name; undefined for a claim that has not drifted. Claims whose NodePool does not
 * exist are left out, because their drift cannot be detected.
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
