import type { NodeClaimRecord } from "../../model/node-claim-record.ts";
import type { EC2NodeClass } from "../../model/node-class.ts";
import type { Snapshot } from "../../model/snapshot.ts";
import { nodeGauges } from "./nodes.ts";
import { type PlannedSince, podGauges } from "./pods.ts";
import { conditionGauges, nodePoolGauges, offeringGauges } from "./pools-and-offerings.ts";
import type { Sample } from "./sample.ts";

/** Since when a NodeClaim is planned for each pod: of two NodeClaims for one pod the earlier counts. */
export function plannedSince(records: readonly NodeClaimRecord[]): PlannedSince {
  const latestFirst = [...records].sort((a, b) => b.createdAt - a.createdAt);
  return new Map(latestFirst.flatMap(({ podUids, createdAt }) => podUids.map((uid) => [uid, createdAt] as const)));
}

/** Groups of gauges that are many series in a large cluster. */
export const COLLECTIONS = ["nodes", "pods", "nodepools", "conditions", "offerings"] as const;
export type Collection = (typeof COLLECTIONS)[number];

/** What is collected where a scraper names nothing: all but the offerings, which are thousands of series. */
export const DEFAULT_COLLECTIONS: readonly Collection[] = COLLECTIONS.filter((name) => name !== "offerings");

/** The gauges of a cluster. */
export function clusterGauges(
  snapshot: Snapshot,
  { nodeClasses, planned }: { readonly nodeClasses: readonly EC2NodeClass[]; readonly planned: PlannedSince },
  collections: readonly Collection[] = DEFAULT_COLLECTIONS,
): readonly Sample[] {
  const gauges: Readonly<Record<Collection, () => readonly Sample[]>> = {
    nodes: () => nodeGauges(snapshot),
    pods: () => podGauges(snapshot, planned),
    nodepools: () => nodePoolGauges(snapshot),
    conditions: () => conditionGauges(snapshot, nodeClasses),
    offerings: () => offeringGauges(snapshot),
  };
  return collections.flatMap((name) => gauges[name]());
}
