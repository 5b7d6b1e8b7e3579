import type { NodeClaim } from "../../core/model/node-claim.ts";
import type { NodeClaimRecord } from "../../core/model/record.ts";
import { ConflictError, NotFoundError } from "../../core/ports/errors.ts";
import { rfc3339, withCondition, withoutCondition } from "../../core/status/conditions.ts";
import type { ClusterDeps } from "../cluster-deps.ts";

/** Shows people what disruption knows of each claim: whether it may be consolidated, and when pods last came or went. */
export async function mirrorConditions(
  claims: readonly NodeClaim[],
  records: readonly NodeClaimRecord[],
  consolidatable: ReadonlyMap<string, boolean>,
  { kubernetes, now }: Pick<ClusterDeps, "kubernetes" | "now">,
): Promise<void> {
  const byName = new Map(records.map((record) => [record.name, record]));
  for (const claim of claims) {
    const record = byName.get(claim.metadata.name);
    if (record?.initializedAt === undefined || claim.metadata.deletionTimestamp !== undefined) continue;
    const before = claim.status?.conditions ?? [];
    const { generation } = claim.metadata;
    const at = { now: now(), ...(generation !== undefined && { generation }) };
    const conditions = consolidatable.get(claim.metadata.name)
      ? withCondition(before, { type: "Consolidatable", status: "True" }, at)
      : withoutCondition(before, "Consolidatable");
    const lastPodEventTime = record.lastPodEventAt === undefined ? claim.status?.lastPodEventTime : rfc3339(record.lastPodEventAt);
    if (conditions === before && lastPodEventTime === claim.status?.lastPodEventTime) continue;
    const status = { ...claim.status, conditions, ...(lastPodEventTime !== undefined && { lastPodEventTime }) };
    try {
      await kubernetes.updateStatus("NodeClaim", { ...claim, status });
    } catch (error) {
      // The next pass shows it.
      if (!(error instanceof ConflictError || error instanceof NotFoundError)) throw error;
    }
  }
}
