import { randomUUID } from "node:crypto";
import type { NodeClaimRecord } from "#core/model/node-claim-record.ts";
import { ConflictError } from "#core/ports/errors.ts";
import type { NodeClaimStore } from "#core/ports/node-claim-store.ts";
import { ownerOf, readClaim, readClaims, withSchema } from "./records.ts";
import type { TableItem } from "./table.ts";
import type { TableRequests } from "./table-requests.ts";
import { NEW, partition, type VersionedItems } from "./versioned-items.ts";

const CLAIM = "claim#";

/** The item of a record, with a nonce of its own. */
export function claimItem(record: NodeClaimRecord, pack: TableRequests["pack"]): TableItem {
  const { cluster, name, version, intentId, uid, nodePool, dueAt } = record;
  return {
    ...{ pk: partition(cluster), sk: CLAIM + name, version, intentId, nonce: randomUUID(), uid, nodePool, dueAt },
    instanceId: record.instance?.id,
    record: pack(withSchema(record)),
  };
}

type Claims = Pick<NodeClaimStore, "create" | "get" | "list" | "byInstance" | "update" | "remove">;

/** The records of NodeClaims: `claim#NAME`, and the index `byInstance`. */
export function claims({ get, query, pack, unpack }: TableRequests, versioned: VersionedItems): Claims {
  const changed = ({ name, version }: NodeClaimRecord) =>
    new ConflictError(`NodeClaim ${name} has changed or gone since version ${version} was read.`);
  const keyOf = (cluster: string, name: string) => ({ pk: partition(cluster), sk: CLAIM + name });

  return {
    async create(record, history) {
      const written = withSchema({ ...record, version: 1 });
      if (!(await versioned.put(claimItem(written, pack), NEW, history)))
        throw new ConflictError(`NodeClaim ${record.name} has a record already.`);
      return written;
    },
    async get(cluster, name) {
      const item = await get(keyOf(cluster, name));
      return item && readClaim(unpack(item["record"]), { cluster, name });
    },
    async list(cluster, setAside) {
      const items = await query({ pk: partition(cluster), prefix: CLAIM, isConsistent: true });
      const stored = items.map((item) => ({ name: item.sk.slice(CLAIM.length), value: unpack(item["record"]) }));
      return readClaims(stored, cluster, setAside);
    },
    async byInstance(instanceId) {
      const [item] = await query({ instanceId });
      return ownerOf(item && unpack(item["record"]), instanceId);
    },
    async update(record, history) {
      const written = withSchema({ ...record, version: record.version + 1 });
      const isSame = { attribute: "version", equals: record.version } as const;
      if (!(await versioned.put(claimItem(written, pack), isSame, history))) throw changed(record);
      return written;
    },
    async remove(record, history) {
      if (!(await versioned.remove(keyOf(record.cluster, record.name), record.version, history))) throw changed(record);
    },
  };
}
