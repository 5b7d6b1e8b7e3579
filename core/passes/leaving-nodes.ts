import type { CommandRecord } from "../model/command-record.ts";
import type { NodeClaimRecord } from "../model/node-claim-record.ts";
import type { Pod } from "../model/pod.ts";
import { removedClaims } from "../model/removed-claims.ts";
import { movingPods } from "../provisioning/pending-pods.ts";

/** The records and commands of a cluster. */
export interface TableReading {
  readonly records: readonly NodeClaimRecord[];
  readonly commands: readonly CommandRecord[];
}

/** Names of the nodes that leave, as far as the table says; undefined for one that has not registered. */
export function leavingNodes(table: TableReading): ReadonlySet<string | undefined> {
  const removed = removedClaims(table);
  const ending = table.records.filter(({ name, instance }) => removed.has(name) && instance !== undefined);
  return new Set(ending.map(({ nodeName }) => nodeName));
}

/** Whether a pod on one of the nodes needs a place in a plan. */
export function hasEvictions(
  leaving: ReadonlySet<string | undefined>,
  pods: readonly Pod[],
  records: readonly NodeClaimRecord[],
  now: number,
): boolean {
  const onThem = pods.filter(({ spec }) => leaving.has(spec.nodeName));
  return movingPods(onThem, records, now).length > 0;
}
