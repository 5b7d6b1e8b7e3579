import { rfc3339, withCondition, withoutCondition } from "#core/model/conditions.ts";
import type { NodeClaim } from "#core/model/node-claim.ts";
import type { NodeClaimRecord } from "#core/model/node-claim-record.ts";
import type { ClusterDeps } from "../shared/cluster-deps.ts";
import { ignoreConflictOrGone } from "../shared/optimistic.ts";
import { someAtATime } from "../shared/some-at-a-time.ts";
import { writeStatus } from "../shared/write-status.ts";

export interface Knowledge {
  readonly records: readonly NodeClaimRecord[];
  readonly consolidatable: ReadonlyMap<string, boolean>;
  /**
   * Drift reason by NodeClaim name, undefined for one that has not drifted; NodeClaims that are missing keep their
   * condition.
   */
  readonly drifted: ReadonlyMap<string, string | undefined>;
}

/**
 * Writes what disruption knows onto each NodeClaim: the conditions Consolidatable and Drifted, and the time of the last
 * pod event. Users read it, and the next pass reads Drifted. What another is writing now is left to the next pass.
 */
export async function mirrorConditions(
  claims: readonly NodeClaim[],
  { records, consolidatable, drifted }: Knowledge,
  deps: Pick<ClusterDeps, "kubernetes" | "now">,
): Promise<void> {
  const byName = new Map(records.map((record) => [record.name, record]));
  await someAtATime(claims, async (claim) => {
    const record = byName.get(claim.metadata.name);
    if (record?.initializedAt === undefined || claim.metadata.deletionTimestamp !== undefined) return;
    const before = claim.status?.conditions ?? [];
    const { generation } = claim.metadata;
    const at = { now: deps.now(), ...(generation !== undefined && { generation }) };
    const { name } = claim.metadata;
    const settled = consolidatable.get(name)
      ? withCondition(before, { type: "Consolidatable", status: "True" }, at)
      : withoutCondition(before, "Consolidatable");
    const reason = drifted.get(name);
    const conditions = !drifted.has(name)
      ? settled
      : reason === undefined
        ? withoutCondition(settled, "Drifted")
        : withCondition(settled, { type: "Drifted", status: "True", reason, message: reason }, at);
    const lastPodEventTime = record.lastPodEventAt === undefined ? claim.status?.lastPodEventTime : rfc3339(record.lastPodEventAt);
    if (conditions === before && lastPodEventTime === claim.status?.lastPodEventTime) return;
    const status = { ...claim.status, conditions, ...(lastPodEventTime !== undefined && { lastPodEventTime }) };
    await ignoreConflictOrGone(writeStatus("NodeClaim", { ...claim, status }, before, deps));
  });
}
