import type { NodeClaimRecord } from "../../../core/model/node-claim-record.ts";
import { ConflictError } from "../../../core/ports/errors.ts";

/** A DynamoDB transaction holds 100 items; one of them is the check of the lease. */
const MAX_WRITES = 99;

/**
 * Cuts intents into the transactions that write them, in order; the first one leaves room for the command if there is
 * one. Duplicate intents are written once. There is always at least one batch, so that the lease is checked and the
 * command is written even without intents. Throws ConflictError when two intents have the same name.
 */
export function intentBatches(records: readonly NodeClaimRecord[], withCommand: boolean): readonly (readonly NodeClaimRecord[])[] {
  const byName = new Map<string, NodeClaimRecord>();
  for (const record of records) {
    const other = byName.get(`${record.cluster}/${record.name}`);
    if (other !== undefined && other.intentId !== record.intentId) {
      throw new ConflictError(`NodeClaim ${record.name} was already made by another intent.`);
    }
    byName.set(`${record.cluster}/${record.name}`, other ?? record);
  }
  const distinct = [...byName.values()];
  const first = withCommand ? MAX_WRITES - 1 : MAX_WRITES;
  const batches: (readonly NodeClaimRecord[])[] = [distinct.slice(0, first)];
  for (let start = first; start < distinct.length; start += MAX_WRITES) {
    batches.push(distinct.slice(start, start + MAX_WRITES));
  }
  return batches;
}
