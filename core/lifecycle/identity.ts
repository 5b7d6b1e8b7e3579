import { INTENT, TERMINATION_FINALIZER } from "../model/labels.ts";
import type { NodeClaim } from "../model/node-claim.ts";
import type { NodeClaimRecord } from "../model/node-claim-record.ts";

/**
 * True when the object of this name was made for another intent than the record's: then it is none of ours, and neither is its node. One that bears our
 * intent is ours under any UID: a backup of it was restored.
 */
export function isStranger(record: NodeClaimRecord, claim: NodeClaim): boolean {
  if (record.uid !== undefined && record.uid === claim.metadata.uid) return false;
  return claim.metadata.annotations?.[INTENT] !== record.intentId;
}

/** A claim that goes and no longer waits for us: others' finalizers are for them to take off. */
export function isDoneWith({ metadata }: NodeClaim): boolean {
  return metadata.deletionTimestamp !== undefined && !metadata.finalizers?.includes(TERMINATION_FINALIZER);
}
