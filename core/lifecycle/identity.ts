import { INTENT, TERMINATION_FINALIZER } from "../model/labels.ts";
import type { NodeClaim } from "../model/node-claim.ts";
import type { NodeClaimRecord } from "../model/record.ts";

/** True when the object of this name was made for another intent than the record's: then it is none of ours, and neither is its node. */
export function isStranger(record: NodeClaimRecord, claim: NodeClaim): boolean {
  return record.uid === undefined ? claim.metadata.annotations?.[INTENT] !== record.intentId : claim.metadata.uid !== record.uid;
}

/** A claim that goes and no longer waits for us: others' finalizers are for them to take off. */
export function isDoneWith({ metadata }: NodeClaim): boolean {
  return metadata.deletionTimestamp !== undefined && !metadata.finalizers?.includes(TERMINATION_FINALIZER);
}
