import { type ClusterRecord, readClusterRecord } from "#core/model/cluster-record.ts";
import type { ClusterRecords } from "#core/ports/cluster-records.ts";
import { ConflictError } from "#core/ports/errors.ts";
import type { Table } from "./table.ts";
import { tableRequests } from "./table-requests.ts";

const PARTITION = "clusters";
const CLUSTER = "cluster#";
/** API servers wait a second for an answer, and what was known before is good for longer. */
const TIMEOUT_MS = 2_000;

/**
 * One item of some 500 bytes for each cluster, all in the partition `clusters` with the sort keys `cluster#NAME`, so
 * that one query reads them. Reads are eventually consistent, at half the price: a cluster that was just added is read
 * some seconds later.
 */
export function clusterRecords(table: Table): ClusterRecords {
  const requests = tableRequests(table);
  return {
    async list(setAside = () => undefined) {
      const items = await requests.query({ pk: PARTITION, isConsistent: false, timeoutMs: TIMEOUT_MS });
      return items.flatMap(({ sk, ...stored }) => {
        const record = readClusterRecord(sk.slice(CLUSTER.length), stored);
        if (!("problem" in record)) return [record];
        setAside(record);
        return [];
      });
    },
    async put(record) {
      const { name, version, ...rest } = record;
      const next: ClusterRecord = { ...record, version: version + 1 };
      const item = { pk: PARTITION, sk: CLUSTER + name, ...rest, version: version + 1 };
      const condition = version === 0 ? { absent: "version" } : { attribute: "version", equals: version };
      const result = await requests.write({ put: item, if: condition });
      if (result.isWritten) return next;
      // The SDK repeats a write whose answer was lost; the first one is then in the way of the second.
      const found = result.item && readClusterRecord(name, result.item);
      if (JSON.stringify(found) !== JSON.stringify(readClusterRecord(name, { ...next })))
        throw new ConflictError(`the record of cluster ${name} in table ${table.name} was changed by another run`);
      return next;
    },
    async remove(name) {
      await requests.write({ delete: { pk: PARTITION, sk: CLUSTER + name } });
    },
  };
}
