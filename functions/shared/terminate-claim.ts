import { hastened } from "#core/history/claim-entries.ts";
import { markTerminating, type TerminationFacts } from "#core/lifecycle/mark-terminating.ts";
import type { NodeClaimRecord } from "#core/model/node-claim-record.ts";
import { isVoluntaryEnd } from "#core/pause/voluntary.ts";
import { ConflictError, UnreadableRecordError } from "#core/ports/errors.ts";
import type { WakeUp } from "#core/ports/wake-ups.ts";
import type { ClusterDeps } from "./cluster-deps.ts";
import { ignoreConflict, retryOnConflict } from "./optimistic.ts";

const MAX_TRIES = 5;

/**
 * Marks a NodeClaim's record as terminating, with the reason, and wakes the lifecycle, which does the rest, and
 * provisioning, which plans for the pods that must move, unless the node is empty. At the deadline, if given, the
 * NodeClaim is terminated by force, even if it was terminating before with more time. With `replacesPaused` the reason
 * also replaces that of a voluntary end, which a pause holds. False when there was nothing to change, or the record
 * cannot be read. Throws ConflictError when others keep writing the record.
 */
export async function terminateClaim(
  name: string,
  reason: string,
  { cluster, store, wakeUps, metrics, now, log }: Pick<ClusterDeps, "cluster" | "store" | "wakeUps" | "metrics" | "now" | "log">,
  facts: TerminationFacts & { readonly replacesPaused?: boolean } = {},
): Promise<boolean> {
  const { replacesPaused = false, ...said } = facts;
  const { deadline, detail } = said;
  const wakeUp: readonly WakeUp[] = [
    { kind: "claim", cluster: cluster.name, claim: name },
    ...(reason === "empty"
      ? []
      : [{ kind: "provision", cluster: cluster.name, cause: "NodeClaimTerminating", detail: `${reason} ${name}` } as const]),
  ];
  const write = async (): Promise<boolean> => {
    const record = await store.get(cluster.name, name);
    if (record === undefined) return false;
    const { terminating } = record;
    const replaces = replacesPaused && isVoluntaryEnd(record);
    const hasten = deadline !== undefined && deadline < (terminating?.deadline ?? Number.POSITIVE_INFINITY);
    if (terminating && !hasten && !replaces) {
      // An earlier run may have written this and been killed before its wake-up.
      await wakeUps.wake(wakeUp);
      return false;
    }
    if (terminating && hasten && !replaces) {
      const entry = hastened(record, now(), { reason, detail, deadline });
      await store.update({ ...record, terminating: { ...terminating, deadline }, dueAt: now() }, [entry]);
    } else await writeTermination(record, reason, { store, metrics, now }, said);
    await wakeUps.wake(wakeUp);
    return true;
  };
  let isChanged: boolean | undefined;
  try {
    isChanged = await ignoreConflict(retryOnConflict(MAX_TRIES, write));
  } catch (error) {
    // The caller continues with other NodeClaims; the version that wrote this record terminates it.
    if (!(error instanceof UnreadableRecordError)) throw error;
    log.error("record cannot be read", { NodeClaim: { name }, error: error.message });
    return false;
  }
  if (isChanged === undefined) throw new ConflictError(`NodeClaim ${name} was written by others ${MAX_TRIES} times in a row; try again`);
  return isChanged;
}

/**
 * Marks one version of a NodeClaim's record as terminating, and counts it. Sends no wake-up. Throws ConflictError when
 * the record has a later version.
 */
export async function writeTermination(
  record: NodeClaimRecord,
  reason: string,
  { store, metrics, now }: Pick<ClusterDeps, "store" | "metrics" | "now">,
  facts: TerminationFacts = {},
): Promise<void> {
  for (const action of markTerminating({ now: now() }, record, reason, facts).actions) {
    if (action.type === "WriteRecord") await store.update(action.record, action.history);
    if (action.type === "Count") metrics.count(action.metric, action.labels, action.by);
  }
}
