import { INTENT, TERMINATION_FINALIZER } from "../model/labels.ts";
import type { NodeClaim } from "../model/node-claim.ts";
import type { NodeClaimRecord } from "../model/node-claim-record.ts";

/**
 * True when the NodeClaim of this name was made for another intent than the record's: the NodeClaim and its node then
 * belong to another owner. A NodeClaim with our intent is ours under any UID, because it may be restored from a backup.
 */
export function isStranger(record: NodeClaimRecord, claim: NodeClaim): boolean {
  if (record.uid !== undefined && record.uid === claim.metadata.uid) return false;
  return claim.metadata.annotations?.[INTENT] !== record.intentId;
}

/**
 * A NodeClaim that is being deleted and no longer has our finalizer; other finalizers are for their owners to remove.
 */
export function isDoneWith({ metadata }: NodeClaim): boolean {
  return metadata.deletionTimestamp !== undefined && !metadata.finalizers?.includes(TERMINATION_FINALIZER);
}
