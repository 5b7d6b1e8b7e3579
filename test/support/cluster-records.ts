import type { ClusterRecord } from "#core/model/cluster-record.ts";
import type { ClusterRecords } from "#core/ports/cluster-records.ts";
import { ConflictError } from "#core/ports/errors.ts";

/** The port in memory; `call` is asked before and after each effect. */
export function memoryClusterRecords(
  kept: Map<string, ClusterRecord> = new Map(),
  call: <T>(effect: () => T) => Promise<T> = async (effect) => effect(),
): ClusterRecords {
  return {
    list: () => call(() => [...kept.values()].sort((a, b) => (a.name < b.name ? -1 : 1))),
    put: (record) =>
      call(() => {
        if ((kept.get(record.name)?.version ?? 0) !== record.version) throw new ConflictError(`the record of ${record.name} was changed`);
        const next = { ...record, version: record.version + 1 };
        kept.set(record.name, next);
        return next;
      }),
    remove: (name) =>
      call(() => {
        kept.delete(name);
      }),
  };
}
