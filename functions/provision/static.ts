import { logEvent } from "#core/announcements/log-events.ts";
import { viewCluster } from "#core/disruption/cluster/view.ts";
import { plannedEntry } from "#core/history/planned.ts";
import { withLaunchGroups } from "#core/launch-group/plan.ts";
import type { Lease } from "#core/model/lease.ts";
import { withClusterSchedule } from "#core/node-pool/schedule.ts";
import { unusedNames } from "#core/provisioning/claim-name.ts";
import { withInFlight } from "#core/provisioning/in-flight.ts";
import { intentFor } from "#core/provisioning/intent.ts";
import { priceOfNodes } from "#core/scheduling/problem/price-caps.ts";
import { affordable } from "#core/static-capacity/affordable.ts";
import { isStatic, staticClaim } from "#core/static-capacity/claim.ts";
import { countReplicas } from "#core/static-capacity/count.ts";
import { type ReplicaChange, replicaChanges } from "#core/static-capacity/plan.ts";
import { chooseSurplus } from "#core/static-capacity/surplus.ts";
import type { ClusterDeps } from "../shared/cluster-deps.ts";
import { type ClusterState, readClusterState } from "../shared/cluster-state.ts";
import { withLease } from "../shared/lease.ts";
import { pausedFor } from "../shared/pauses.ts";
import { scheduleOf } from "../shared/schedule-of.ts";
import { reservePrice } from "../shared/stack-price.ts";
import { terminateClaim } from "../shared/terminate-claim.ts";
import { writeIntents } from "../shared/write-intents.ts";

/**
 * Keeps static NodePools at their `replicas` (gate StaticCapacity): writes records of intent for missing NodeClaims,
 * and terminates surplus NodeClaims. Most often there is nothing to do, which costs a few lists and no lease. A kill
 * costs only time, because the next sweep counts again.
 */
export async function keepReplicas(cluster: ClusterDeps): Promise<void> {
  if (!cluster.settings.staticCapacity) return;
  const seen = await pendingChanges(cluster);
  for (const change of seen) if (change.limited) cluster.log.info("nodepool node limit reached", fieldsOf(change));
  if (!seen.some(({ add, remove }) => add + remove > 0)) return;
  const decided = await withLease(cluster, async (lease, deps) => {
    let state = await readClusterState(deps);
    const [launches, disruption] = await Promise.all([pausedFor("launches", deps), pausedFor("disruption", deps)]);
    for (const change of replicaChanges(state.snapshot.nodePools, { ...state, claims: state.snapshot.nodeClaims }, deps.now())) {
      if (change.add > 0 && launches === undefined) state = await addNodes(change, state, lease, deps);
      if (change.remove > 0 && disruption === undefined) await shrink(change, state, deps);
    }
  });
  if (decided === undefined) await cluster.wakeUps.wake([{ kind: "provision", cluster: cluster.cluster.name, cause: "ReplicasPutOff" }]);
}

/** The changes that seem due, read without the lease: under the lease they are counted again. */
async function pendingChanges({ cluster, kubernetes, store, settings, now }: ClusterDeps): Promise<readonly ReplicaChange[]> {
  const pools = withClusterSchedule(await kubernetes.list("NodePool"), scheduleOf(cluster.name, settings));
  if (!pools.some(isStatic)) return [];
  const [claims, records, commands] = await Promise.all([
    kubernetes.list("NodeClaim"),
    store.list(cluster.name),
    store.commands(cluster.name),
  ]);
  return replicaChanges(pools, { claims, records, commands }, now());
}

/** Returns the state with the NodeClaims, which count for the price caps of the pools that follow. */
async function addNodes(change: ReplicaChange, state: ClusterState, lease: Lease, deps: ClusterDeps): Promise<ClusterState> {
  const { nodePool } = change;
  const { snapshot } = state;
  const instanceTypes = snapshot.instanceTypes.get(nodePool.metadata.name) ?? [];
  const whole = staticClaim(nodePool, instanceTypes);
  if ("none" in whole) {
    deps.log.error("failed provisioning nodeclaims to satisfy replica count", { ...fieldsOf(change), error: whole.none });
    return state;
  }
  const { count: add, planned } = affordable({ pool: nodePool, planned: whole.ok, wanted: change.add }, snapshot);
  if (add < change.add) deps.log.info("nodepool price cap reached", { ...fieldsOf(change), "provision-count": add });
  if (add === 0) return state;
  const facts = { cluster: deps.cluster.name, now: deps.now(), reason: "provisioned", podUids: [], instanceTypes } as const;
  const nameOf = unusedNames([...state.records.map(({ name }) => name), ...snapshot.nodeClaims.map(({ metadata }) => metadata.name)]);
  const intents = Array.from({ length: add }, () => {
    const id = deps.newId();
    return intentFor(planned, nodePool, { ...facts, id, name: nameOf(nodePool.metadata.name, id) });
  });
  const records = withLaunchGroups(intents, deps.settings.launchTogether);
  const history = records.map((record) => plannedEntry(planned, record, { instanceTypes, createdAt: new Map(), together: add }));
  if (!(await reservePrice(priceOfNodes(withInFlight(snapshot, records)), deps))) return state;
  logEvent(deps.log, "provisioning nodeclaims to satisfy replica count", { ...fieldsOf(change), "provision-count": add });
  await writeIntents(lease, { records, history }, deps);
  return { ...state, snapshot: withInFlight(snapshot, records) };
}

async function shrink(change: ReplicaChange, { snapshot, records, commands }: ClusterState, deps: ClusterDeps): Promise<void> {
  const { nodePool, remove } = change;
  const view = viewCluster({ snapshot, records, commands, now: deps.now() });
  const { active = [] } = countReplicas({ claims: snapshot.nodeClaims, records, commands }).get(nodePool.metadata.name) ?? {};
  logEvent(deps.log, "deprovisioning nodeclaims to satisfy replica count", { ...fieldsOf(change), "deprovision-count": remove });
  for (const name of chooseSurplus(view, active, remove)) {
    await terminateClaim(name, "deleted", deps, { detail: `the NodePool has more nodes than its ${change.desired} replicas` });
  }
}

function fieldsOf({ nodePool, current, desired }: ReplicaChange) {
  return { controller: "static.provisioning", NodePool: { name: nodePool.metadata.name }, current, desired };
}
