import type { NodeClaim } from "../../core/model/node-claim.ts";
import { instanceFromStatus, recordFromClaim } from "../../core/rebuild/record.ts";
import type { LifecycleDeps } from "../shared/cluster-deps.ts";
import { launchedInstance } from "./launch/launch.ts";

/**
 * Takes a claim that has no record into care: one that a person made, or all of them after the table was lost. What it was launched as is read
 * from its status, or found in EC2 by the claim's UID: the table may have been lost between a launch and its telling.
 */
export async function adopt(claim: NodeClaim, { cluster, store, fleet, now, newId }: LifecycleDeps): Promise<void> {
  const launched = instanceFromStatus(claim) ?? (await launchedInstance(fleet, cluster.name, claim.metadata.uid ?? ""));
  await store.create(recordFromClaim(claim, { cluster: cluster.name, now: now(), id: newId(), launched }));
}
