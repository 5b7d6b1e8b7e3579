import { instanceIdOf } from "./instance.ts";
import type { NodeClaim } from "./node-claim.ts";
import type { NodeClaimRecord } from "./node-claim-record.ts";

/**
 * Finds the NodeClaim that has the instance which another NodeClaim names. The status of a NodeClaim may name any
 * instance: a copy under another name does, and so does one that was forged. The record says which NodeClaim an
 * instance was launched for.
 * @returns the owner's record; undefined when the instance is the NodeClaim's own, or of no NodeClaim
 * @example
 * const otherOwnerOf = otherOwners(records);
 * const isLeftAlone = otherOwnerOf(claim) !== undefined;
 */
export function otherOwners(records: readonly NodeClaimRecord[]): (claim: NodeClaim) => NodeClaimRecord | undefined {
  const ownerById = new Map<string, NodeClaimRecord>();
  for (const record of records) {
    const id = record.instance?.id;
    const before = id === undefined ? undefined : ownerById.get(id);
    if (id !== undefined && (before === undefined || isOwnerBefore(record, before))) ownerById.set(id, record);
  }
  return ({ metadata, status }) => {
    const owner = ownerById.get(instanceIdOf(status?.providerID) ?? "");
    return owner?.name === metadata.name ? undefined : owner;
  };
}

/** What was launched comes before what was adopted, then the older record before the younger. */
function isOwnerBefore(a: NodeClaimRecord, b: NodeClaimRecord): boolean {
  const [first, second] = [a, b].map(({ reason }) => reason === "adopted");
  if (first !== second) return second === true;
  return a.createdAt === b.createdAt ? a.name < b.name : a.createdAt < b.createdAt;
}
