import type { Lease } from "#core/model/lease.ts";
import { ConflictError } from "#core/ports/errors.ts";
import type { NodeClaimStore } from "#core/ports/node-claim-store.ts";
import type { Condition, Key, Update } from "./table.ts";
import type { TableRequests } from "./table-requests.ts";
import { partition } from "./versioned-items.ts";

const keyOf = (cluster: string): Key => ({ pk: partition(cluster), sk: "lease" });

/** No other has taken the lease, and its holder has not released it. */
const isHeld = ({ holder, token }: Lease): Condition => ({
  allOf: [
    { attribute: "holder", equals: holder },
    { attribute: "token", equals: token },
  ],
});

/** The part of a transaction that is refused when the lease is no longer held. */
export const leaseCheck = (lease: Lease) => ({ check: keyOf(lease.cluster), if: isHeld(lease) });

export const leaseLost = ({ cluster, holder }: Lease): ConflictError =>
  new ConflictError(`The lease of cluster ${cluster} is no longer held by ${holder}.`);

/** The leases of clusters, one item each. */
export function leases({ write }: TableRequests): Pick<NodeClaimStore, "acquireLease" | "renewLease" | "releaseLease"> {
  const change = async (lease: Lease, by: Update): Promise<boolean> =>
    (await write({ update: keyOf(lease.cluster), by, if: isHeld(lease) })).isWritten;

  return {
    async acquireLease(cluster, holder, now, ttlMs) {
      const expiresAt = now + ttlMs;
      const isFree = [{ absent: "holder" }, { attribute: "holder", equals: holder }, { attribute: "expiresAt", atMost: now }];
      const result = await write(
        { update: keyOf(cluster), by: { set: { holder, expiresAt }, add: { token: 1 } }, if: { anyOf: isFree } },
        { returns: "new" },
      );
      return result.isWritten ? { cluster, holder, token: Number(result.item?.["token"]), expiresAt } : undefined;
    },
    async renewLease(lease, now, ttlMs) {
      const expiresAt = now + ttlMs;
      return (await change(lease, { set: { expiresAt } })) ? { ...lease, expiresAt } : undefined;
    },
    async releaseLease(lease) {
      // The item stays, because the next token must be greater.
      await change(lease, { set: { expiresAt: 0 }, remove: ["holder"] });
    },
  };
}
