import { markTerminating } from "../../core/lifecycle/advance.ts";
import type { NodeClaimRecord } from "../../core/model/node-claim-record.ts";
import { ConflictError } from "../../core/ports/errors.ts";
import type { ClusterDeps } from "./cluster-deps.ts";
import { ignoreConflict, retryOnConflict } from "./optimistic.ts";

const MAX_TRIES = 5;

/**
 * Writes that a claim shall go, and why; the lifecycle does the rest, and pods that must move are planned for at once.
 * With a deadline (ms) it goes by force then, even if it was going before with more time. False when there was nothing
 * to change. Throws ConflictError when others keep writing it.
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
  const write = async (): Promise<boolean> => {
    const record = await store.get(cluster.name, name);
    if (record === undefined) return false;
    const { terminating } = record;
    const hasten = deadline !== undefined && deadline < (terminating?.deadline ?? Number.POSITIVE_INFINITY);
    if (terminating && !hasten) {
      // Perhaps by ourselves, killed before the wake-up.
      await wakeUps.wake(wakeUp);
      return false;
    }
    if (terminating && hasten) await store.update({ ...record, terminating: { ...terminating, deadline }, dueAt: now() });
    else await writeTermination(record, reason, { store, metrics, now }, deadline);
    await wakeUps.wake(wakeUp);
    return true;
  };
  const isChanged = await ignoreConflict(retryOnConflict(MAX_TRIES, write));
  if (isChanged === undefined) throw new ConflictError(`NodeClaim ${name} was written by others ${MAX_TRIES} times in a row; try again`);
  return isChanged;
}

/**
 * Writes into one version of a claim's record that the claim goes, and counts it. Wakes nobody. Throws ConflictError
 * when there is a later version.
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
