import { embeddedNodeClaimStore } from "#adapters/store/embedded-store.ts";
import type { NodeClaimStore } from "#core/ports/node-claim-store.ts";

type Table = NodeClaimStore & { close(): void };

export interface LosableTable extends Table {
  /**
   * Loses this share of the NodeClaims and commands of a cluster, those that `isLost` picks. A share of 1 leaves a new
   * table, which knows no lease, mark, document or other cluster either. Returns how many NodeClaims it has lost.
   */
  lose(cluster: string, share: number, isLost: () => boolean): Promise<number>;
}

/** A table that may be lost, as by a mistake of its owner or a restoration. */
export function losableTable(options: Parameters<typeof embeddedNodeClaimStore>[0]): LosableTable {
  let table: Table = embeddedNodeClaimStore(options);
  const lose: LosableTable["lose"] = async (cluster, share, isLost) => {
    const records = await table.list(cluster);
    if (share >= 1) {
      table.close();
      table = embeddedNodeClaimStore(options);
      return records.length;
    }
    const lost = records.filter(isLost);
    for (const record of lost) await table.remove(record);
    for (const command of await table.commands(cluster)) if (isLost()) await table.removeCommand(command);
    return lost.length;
  };
  const forward = (method: keyof Table) => [method, (...args: never[]) => Reflect.apply(table[method], table, args)] as const;
  // Each method by itself, because wrappers of a store copy its methods.
  return { ...(Object.fromEntries((Object.keys(table) as (keyof Table)[]).map(forward)) as unknown as Table), lose };
}
