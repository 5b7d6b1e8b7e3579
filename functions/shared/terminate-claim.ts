import { markTerminating } from "../../core/lifecycle/advance.ts";
import type { NodeClaimRecord } from "../../core/model/node-claim-record.ts";
import { ConflictError } from "../../core/ports/errors.ts";
import type { ClusterDeps } from "./cluster-deps.ts";
import { ignoreConflict, retryOnConflict } from "./optimistic.ts";

const MAX_TRIES = 5;

/**
 * Marks a NodeClaim's record as terminating, with the reason, and wakes the lifecycle, which does the rest, and the
 * planner, so that pods that must move get room at once. With a `deadline` (ms since the epoch) the node is removed by
 * force at that time, even if it was already terminating with more time. Returns false when there was nothing to
 * change. Throws ConflictError when others keep writing the record.
 */
export async function terminateClaim(
  name: string,
  reason: string,
  { cluster, store, wakeUps, metrics, now }: Pick<ClusterDeps, "cluster" | "store" | "wakeUps" | "metrics" | "now">,
  deadline?: number,
): Promise<boolean> {
  const wakeUp = [
    { kind: "claim", cluster: cluster.name, claim: name },
    { kind: "provision", cluster: cluster.name, reason: `${reason} ${name}` },
  ] as const;
  const write = async (): Promise<boolean> => {
    const record = await store.get(cluster.name, name);
    if (record === undefined) return false;
    const { terminating } = record;
    const hasten = deadline !== undefined && deadline < (terminating?.deadline ?? Number.POSITIVE_INFINITY);
    if (terminating && !hasten) {
      // An earlier invocation may have written it and been killed before it sent the wake-up.
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
 * Marks this version of a record as terminating and counts the termination. Sends no wake-up. Throws ConflictError when
 * a later version has been written.
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
