// The port NodeClaimStore: records of intent, commands, leases, unavailable offerings and documents, on a table
// (table.ts) that is DynamoDB's for the functions and an embedded one for the lab and tests. In: records as core/model
// has them. Out: the same, and ConflictError where another was faster. Nothing here knows what a record means.

import type { NodeClaimStore } from "#core/ports/node-claim-store.ts";
import { claims } from "./claims.ts";
import { disruptionCommands } from "./commands.ts";
import { documents } from "./documents.ts";
import { storedHistory } from "./history.ts";
import { intents } from "./intents.ts";
import { launchGroups } from "./launch-groups.ts";
import { leases } from "./leases.ts";
import { marks } from "./marks.ts";
import { storedRequestPace } from "./request-pace.ts";
import type { Table } from "./table.ts";
import { type Sleep, tableRequests } from "./table-requests.ts";
import { versionedItems } from "./versioned-items.ts";

export interface NodeClaimStoreOptions {
  /** ms since the epoch; it only dates documents. */
  readonly clock?: () => number;
  /** How many days the history is kept; 30 when absent, and none is written for 0. */
  readonly historyDays?: number;
  /** How to wait before a request is repeated. */
  readonly sleep?: Sleep;
}

/** How many days the history is kept unless the deployment says otherwise. */
const DEFAULT_HISTORY_DAYS = 30;

/**
 * The port NodeClaimStore on a table. The items of a cluster share the partition `cluster#NAME` with the sort keys
 * `claim#…`, `command#…`, `launch#…`, `unavailable#…` and `lease`; first sightings are in `seen#NAME`, documents in
 * `document#NAME`, buckets of requests in `pace#BUCKET`, and the history of a day in `history#NAME#DAY`.
 */
export function nodeClaimStore(table: Table, options: NodeClaimStoreOptions = {}): NodeClaimStore {
  const requests = tableRequests(table, options.sleep);
  const { puts, kept, ...history } = storedHistory(requests, options.historyDays ?? DEFAULT_HISTORY_DAYS);
  const versioned = versionedItems(requests, { puts });
  return {
    ...claims(requests, versioned),
    ...intents(requests, { puts, kept }),
    ...launchGroups(requests, versioned),
    ...marks(requests, versioned),
    ...leases(requests),
    ...disruptionCommands(requests, versioned),
    ...history,
    ...storedRequestPace(requests),
    ...documents(requests, options.clock ?? Date.now),
  };
}
