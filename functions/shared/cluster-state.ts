import { readHeadroom } from "#adapters/kubernetes/headroom.ts";
import { readSelectorSources } from "#adapters/kubernetes/selector-sources.ts";
import { readSnapshot } from "#adapters/kubernetes/snapshot.ts";
import type { Headroom } from "#core/capacity-buffers/headroom.ts";
import { withCommandRoom } from "#core/disruption/cluster/command-room.ts";
import type { CommandRecord } from "#core/model/command-record.ts";
import type { NodeClaimRecord } from "#core/model/node-claim-record.ts";
import type { EC2NodeClass } from "#core/model/node-class.ts";
import type { Pod } from "#core/model/pod.ts";
import { priceCapOf } from "#core/model/price-caps.ts";
import type { Snapshot } from "#core/model/snapshot.ts";
import { hasNoBackoff, nextLaunchAt, withProvenPools } from "#core/node-pool/launch-backoff.ts";
import { withClusterSchedule } from "#core/node-pool/schedule.ts";
import { heldReservations } from "#core/offerings/reservations.ts";
import type { Kubernetes } from "#core/ports/kubernetes.ts";
import type { Log } from "#core/ports/log.ts";
import type { NodeClaimStore } from "#core/ports/node-claim-store.ts";
import { withInFlight } from "#core/provisioning/in-flight.ts";
import { podsBoughtFor } from "#core/provisioning/purchases.ts";
import { refusedPods } from "#core/provisioning/refused.ts";
import { keepNominations } from "#core/scheduling/keep-nominations.ts";
import { withDefaultConstraints } from "#core/scheduling/rules/default-constraints.ts";
import { type GivenUp, weighPreferences } from "#core/scheduling/weigh-preferences.ts";
import type { SetAside } from "#core/set-aside/set-aside.ts";
import type { ClusterDeps } from "./cluster-deps.ts";
import { instanceTypesFor } from "./instance-types.ts";
import { overlaidTypes } from "./overlaid-types.ts";
import { readPaid } from "./paid-capacity.ts";
import { readPurchases } from "./purchases.ts";
import { withRecentDefinitions } from "./recent-definitions.ts";
import { scheduleOf } from "./schedule-of.ts";
import { priceElsewhere } from "./stack-price.ts";

/** What a decision reads: the cluster as it is, the records of intent, and the instance types that can be launched. */
export interface ClusterState {
  readonly snapshot: Snapshot;
  readonly records: readonly NodeClaimRecord[];
  readonly commands: readonly CommandRecord[];
  readonly nodeClasses: readonly EC2NodeClass[];
  /** One entry per CapacityBuffer; empty while the feature gate CapacityBuffer is off. */
  readonly headroom: readonly Headroom[];
  /** When pods of refused NodeClaims, or of NodePools that wait, are planned again, ms since the epoch. */
  readonly refusedUntil?: number;
  /** Objects that cannot be read, which the snapshot is without. */
  readonly setAside: readonly SetAside[];
  /** Preferences that the pods of the snapshot are without, because they would cost too much. */
  readonly givenUp: readonly GivenUp[];
}

/** The ports that the cluster state is read from; none of them can write. */
export type ClusterStateDeps = Pick<ClusterDeps, "cluster" | "account" | "catalogue" | "settings" | "memory" | "now"> & {
  readonly kubernetes: Pick<Kubernetes, "get" | "list">;
  readonly store: Pick<NodeClaimStore, "list" | "commands" | "unavailable"> & Partial<Pick<NodeClaimStore, "getDocument">>;
  readonly log?: Log;
};

const NOTHING_LOST = podsBoughtFor({}, [], 0);

/**
 * Reads the state of a cluster for one decision.
 * @param isForPods the decision is about pods alone, and reads PodDisruptionBudgets only while nodes go
 * @param definitionsAgeMs how old the definitions may be; at 0 they are read again, however recently they were read
 */
export async function readClusterState(deps: ClusterStateDeps, { isForPods = false, definitionsAgeMs = 0 } = {}): Promise<ClusterState> {
  const { cluster, store, settings } = deps;
  const kubernetes = withRecentDefinitions(deps, definitionsAgeMs);
  const now = deps.now();
  const { defaultConstraints: constraints } = settings;
  const [catalogue, unavailable, elsewhere, paid, overlays, headroom, sources] = await Promise.all([
    deps.catalogue(),
    store.unavailable(cluster.name, now),
    priceElsewhere(deps),
    readPaid(deps, isForPods),
    settings.nodeOverlay ? kubernetes.list("NodeOverlay") : [],
    settings.capacityBuffer ? readHeadroom(kubernetes) : [],
    constraints.length > 0 ? readSelectorSources(kubernetes) : undefined,
  ]);
  const { records, commands, nodeClasses, setAside, ...snapshot } = await readSnapshot({
    kubernetes,
    store,
    cluster: cluster.name,
    budgetsOfGoingOnly: isForPods,
    now,
    virtualPods: headroom.flatMap((room) => room.pods),
    instanceTypesOf: (_nodePool, nodeClass, known) =>
      instanceTypesFor(catalogue, nodeClass, unavailable, settings, heldReservations(known)),
  });
  const { instanceTypes } = overlays.length > 0 ? overlaidTypes(overlays, snapshot.nodePools, snapshot.instanceTypes) : snapshot;
  // The record of a NodeClaim is marked as terminating before the NodeClaim is deleted.
  const going = records.flatMap(({ name, terminating }) => (terminating ? [name] : []));
  const disrupting = new Set([...snapshot.disrupting, ...going]);
  const spread = (pods: readonly Pod[]) => (sources ? withDefaultConstraints(pods, constraints, sources) : pods);
  const pods = spread(snapshot.pods);
  const virtualPods = spread(headroom.flatMap((room) => room.pods));
  const priceCap = priceCapOf(cluster.name, settings, elsewhere);
  const proven = withProvenPools(snapshot.nodePools, snapshot.nodeClaims);
  const nodePools = withClusterSchedule(proven, scheduleOf(cluster.name, settings));
  const read = {
    ...snapshot,
    nodePools,
    pods,
    virtualPods,
    instanceTypes,
    disrupting,
    ...(priceCap && { priceCap }),
    ...(paid.length > 0 && { paid }),
  };
  const { snapshot: weighed, givenUp } = weighPreferences(read, settings);
  const onTheWay = withInFlight(weighed, records);
  const { reasons, nextAt } = refusedPods(onTheWay, records);
  const bought = nodePools.every(hasNoBackoff) ? NOTHING_LOST : podsBoughtFor(await readPurchases(deps), onTheWay.pods, now);
  const refusedUntil = earliest(nextAt, nextLaunchAt(nodePools, now), bought.nextAt);
  const refused = new Map([...bought.reasons, ...reasons]);
  const seen = keepNominations({ ...onTheWay, refused }, settings.preferencePolicy);
  const planned = withCommandRoom(seen, commands);
  return {
    snapshot: planned,
    records,
    commands,
    nodeClasses,
    headroom,
    setAside,
    givenUp,
    ...(refusedUntil !== undefined && { refusedUntil }),
  };
}

function earliest(...times: readonly (number | undefined)[]): number | undefined {
  const known = times.filter((time) => time !== undefined);
  return known.length === 0 ? undefined : Math.min(...known);
}
