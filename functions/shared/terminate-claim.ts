import { markTerminating } from "../../core/lifecycle/advance.ts";
import type { NodeClaimRecord } from "../../core/model/node-claim-record.ts";
import { ConflictError } from "../../core/ports/errors.ts";
import type { ClusterDeps } from "./cluster-deps.ts";

/**
 * Marks a NodeClaim's record as terminating, with the reason, and wakes the lifecycle, which does the rest, and
 * provisioning, which plans for the pods that must move. At the deadline (ms since the epoch), if given, the NodeClaim
 * is terminated by force, even if it was terminating before with more time. False when there was nothing to change.
 * Throws ConflictError when others keep writing the record.
 */
export async function terminateClaim(
  name: string,
  reason: string,
  { cluster, store, wakeUps, metrics, now }: Pick<ClusterDeps, "cluster" | "store" | "wakeUps" | "metrics" | "now">,
  deadline?: number,
): Promise<boolean> {
  const wakeUp = [
    { kind: "claim", cluster: cluster.name, claim: name },
    { kind: "provision", cluster: cluster.name, cause: "NodeClaimTerminating", detail: `${reason} ${name}` },
  ] as const;
  for (let tries = 0; tries < 5; tries++) {
    const record = await store.get(cluster.name, name);
    if (record === undefined) return false;
    const { terminating } = record;
    const hasten = deadline !== undefined && deadline < (terminating?.deadline ?? Number.POSITIVE_INFINITY);
    if (terminating && !hasten) {
      // An earlier run may have written this and been killed before its wake-up.
      await wakeUps.wake(wakeUp);
      return false;
    }
    try {
      if (terminating && hasten) await store.update({ ...record, terminating: { ...terminating, deadline }, dueAt: now() });
      else await writeTermination(record, reason, { store, metrics, now }, deadline);
      await wakeUps.wake(wakeUp);
      return true;
    } catch (error) {
      if (!(error instanceof ConflictError)) throw error;
    }
  }
  throw new ConflictError(`NodeClaim ${name} was written by others five times in a row; try again`);
}

/**
 * Marks one version of a NodeClaim's record as terminating, and counts it. Sends no wake-up. Throws ConflictError when
 * the record has a later version.
 */
export async function writeTermination(
  record: NodeClaimRecord,
  reason: string,
  { store, metrics, now }: Pick<ClusterDeps, "store" | "metrics" | "now">,
  deadline?: number,
): Promise<void> {
  for (const action of markTerminating({ now: now() }, record, reason, deadline).actions) {
    if (action.type === "WriteRecord") await store.update(action.record);
    if (action.type === "Count") metrics.count(action.metric, action.labels);
  }
}
