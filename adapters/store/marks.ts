import { randomUUID } from "node:crypto";
import type { UnavailableOffering } from "#core/model/unavailable-offering.ts";
import type { NodeClaimStore } from "#core/ports/node-claim-store.ts";
import type { TableRequests } from "./table-requests.ts";
import { partition, ttlOf, type VersionedItems } from "./versioned-items.ts";

const UNAVAILABLE = "unavailable#";

type Marks = Pick<NodeClaimStore, "markUnavailable" | "unavailable" | "isFirstWithin" | "wasSeen">;

/** What is known for a while: offerings without capacity (`unavailable#…`), and first sightings (`seen#CLUSTER`). */
export function marks({ get, query, writeAll }: TableRequests, versioned: VersionedItems): Marks {
  return {
    async markUnavailable(cluster, offerings) {
      // A batch refuses duplicate keys; the last value counts, as in separate writes.
      const bySk = new Map(offerings.map((offering) => [sortKeyOf(offering), offering]));
      await writeAll(
        [...bySk].map(([sk, offering]) => ({ put: { pk: partition(cluster), sk, ...offering, ttl: ttlOf(offering.expiresAt) } })),
      );
    },
    async unavailable(cluster, now) {
      const items = await query({ pk: partition(cluster), prefix: UNAVAILABLE, isConsistent: true });
      return items
        .map((item) => item as unknown as UnavailableOffering)
        .filter(({ expiresAt }) => expiresAt > now)
        .map(({ instanceType, zone, capacityType, expiresAt, cause }) => ({
          ...{ instanceType, zone, capacityType, expiresAt },
          ...(cause !== undefined && { cause }),
        }));
    },
    isFirstWithin: (cluster, key, now, ttlMs) => {
      const expiresAt = now + ttlMs;
      const item = { pk: `seen#${cluster}`, sk: key, nonce: randomUUID(), expiresAt, ttl: ttlOf(expiresAt) };
      return versioned.put(item, { anyOf: [{ absent: "pk" }, { attribute: "expiresAt", atMost: now }] });
    },
    async wasSeen(cluster, key, now) {
      const item = await get({ pk: `seen#${cluster}`, sk: key });
      return item !== undefined && Number(item["expiresAt"]) > now;
    },
  };
}

const sortKeyOf = ({ capacityType, instanceType, zone }: UnavailableOffering): string =>
  `${UNAVAILABLE}${capacityType}#${instanceType}#${zone}`;
