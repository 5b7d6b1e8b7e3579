/*
 * How many CreateFleet calls the plans of many different pods take, and how long EC2's bucket makes the last one wait:
 * NodeClaims whose lists of instance types differ are not launched together. In: the number of pods (2000). Out: a line
 * of JSON for each mix of pods, which share nodes or have one each.
 */

import { launchHash, withLaunchGroups } from "#core/launch-group/plan.ts";
import type { Pod } from "#core/model/pod.ts";
import { intentFor } from "#core/provisioning/intent.ts";
import { bucketOf } from "#core/request-pace/buckets.ts";
import { solve } from "#core/scheduling/solve.ts";
import { DEFAULT_SETTINGS } from "#functions/wiring/settings.ts";
import { settingOf, snapshotOf } from "./workloads.ts";

/** The share of EC2's bucket that the functions use (core/request-pace/draw.ts). */
const SHARE = 0.9;

/** A pod that takes no node with another. */
function alone(pod: Pod): Pod {
  const matchLabels = { apart: "yes" };
  const term = { labelSelector: { matchLabels }, topologyKey: "kubernetes.io/hostname" };
  const affinity = { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term] } };
  const metadata = { ...pod.metadata, labels: { ...pod.metadata.labels, ...matchLabels } };
  return { ...pod, metadata, spec: { ...pod.spec, topologySpreadConstraints: [], affinity } };
}

function play(family: "own-amounts" | "diverse", isApart: boolean, count: number): void {
  const drawn = snapshotOf(settingOf(family), count);
  const snapshot = isApart ? { ...drawn, pods: drawn.pods.map(alone) } : drawn;
  const pools = new Map(snapshot.nodePools.map((pool) => [pool.metadata.name, pool]));
  const records = solve(snapshot, DEFAULT_SETTINGS).newNodeClaims.flatMap((planned, i) => {
    const pool = pools.get(planned.nodePool);
    const instanceTypes = snapshot.instanceTypes.get(planned.nodePool) ?? [];
    const facts = { cluster: "c", id: `id-${i}`, name: `claim-${i}`, now: 0, reason: "provisioned" as const, podUids: [], instanceTypes };
    return pool === undefined ? [] : [intentFor(planned, pool, facts)];
  });
  const placed = withLaunchGroups(records, DEFAULT_SETTINGS.launchTogether);
  const groups = new Set(placed.flatMap(({ launchGroup }) => (launchGroup ? [launchGroup.id] : []))).size;
  const single = placed.filter(({ launchGroup }) => launchGroup === undefined).length;
  const { burst, perSecond } = bucketOf("CreateFleet");
  const waitOf = (calls: number): number => Math.round(Math.max(0, calls - SHARE * burst) / (SHARE * perSecond));
  console.log(
    JSON.stringify({
      ...{ family, pods: count, eachOnItsOwnNode: isApart, nodeClaims: records.length },
      kinds: new Set(records.map(({ manifest }) => launchHash(manifest))).size,
      ...{ groups, single, calls: groups + single, secondsToTheLast: waitOf(groups + single), oneByOne: waitOf(records.length) },
    }),
  );
}

const count = Number(process.argv[2] ?? 2_000);
for (const family of ["own-amounts", "diverse"] as const) for (const isApart of [true, false]) play(family, isApart, count);
