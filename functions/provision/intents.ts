import { creationTimes, plannedEntry } from "#core/history/planned.ts";
import { withLaunchGroups } from "#core/launch-group/plan.ts";
import type { HistoryEntry } from "#core/model/history-entry.ts";
import type { NodeClaimRecord } from "#core/model/node-claim-record.ts";
import type { Plan } from "#core/model/plan.ts";
import type { Snapshot } from "#core/model/snapshot.ts";
import { unusedNames } from "#core/provisioning/claim-name.ts";
import { intentFor } from "#core/provisioning/intent.ts";
import { podsToNominate } from "#core/provisioning/node-nominations.ts";
import { nomineesOf } from "#core/provisioning/nominees.ts";
import { refusalsOf } from "#core/provisioning/refused.ts";
import { nodeClaimProblem } from "#core/provisioning/writable.ts";
import type { ClusterDeps } from "../shared/cluster-deps.ts";

interface IntentOptions {
  readonly known: readonly NodeClaimRecord[];
  /** Nodes of several NodeClaims start at the same time, so each is held for its pods. */
  readonly isHeld: boolean;
}

/**
 * The intents of a plan, in the order of its NodeClaims. A NodeClaim that the API server would refuse is left out of
 * the plan, and its pods get the reason.
 */
export function intentsOf(
  plan: Plan,
  { known, isHeld }: IntentOptions,
  snapshot: Snapshot,
  { cluster, now, newId, settings }: ClusterDeps,
): { readonly plan: Plan; readonly records: readonly NodeClaimRecord[] } {
  const pools = new Map(snapshot.nodePools.map((pool) => [pool.metadata.name, pool]));
  const nominees = nomineesOf(snapshot);
  const nameOf = unusedNames([...known.map(({ name }) => name), ...snapshot.nodeClaims.map(({ metadata }) => metadata.name)]);
  const nominated = isHeld ? podsToNominate(snapshot) : new Set<string>();
  const made = plan.newNodeClaims.flatMap((planned) => {
    const pool = pools.get(planned.nodePool);
    const podUids = nominees(planned);
    const instanceTypes = snapshot.instanceTypes.get(planned.nodePool) ?? [];
    const id = newId();
    const facts = {
      ...{ id, name: nameOf(planned.nodePool, id), cluster: cluster.name, now: now(), reason: "provisioned" as const },
      ...{ podUids, instanceTypes },
      refusals: refusalsOf(podUids, known),
      ...(isHeld && { heldFor: planned.pods.filter((pod) => nominated.has(pod)) }),
    };
    const record = pool && intentFor(planned, pool, facts);
    return record ? [{ planned, record, problem: nodeClaimProblem(record.manifest) }] : [];
  });
  const refused = made.flatMap(({ planned: { nodePool, pods }, problem }) =>
    pods.flatMap((pod) => (problem === undefined ? [] : [[pod, `NodePool ${nodePool}: its NodeClaim cannot be written: ${problem}`]])),
  );
  const kept = made.filter(({ problem }) => problem === undefined);
  return {
    plan: { ...plan, newNodeClaims: kept.map(({ planned }) => planned), podErrors: { ...plan.podErrors, ...Object.fromEntries(refused) } },
    records: withLaunchGroups(
      kept.map(({ record }) => record),
      settings.launchTogether,
    ),
  };
}

/** Why each NodeClaim of a plan; `records` are in the order of its NodeClaims. */
export function historyOf(
  { newNodeClaims }: Plan,
  records: readonly NodeClaimRecord[],
  { pods, instanceTypes }: Snapshot,
): readonly HistoryEntry[] {
  const createdAt = records.length > 0 ? creationTimes(pods) : new Map<string, number>();
  return newNodeClaims.flatMap((planned, i) => {
    const record = records[i];
    const types = instanceTypes.get(planned.nodePool) ?? [];
    return record ? [plannedEntry(planned, record, { instanceTypes: types, createdAt, together: records.length })] : [];
  });
}
