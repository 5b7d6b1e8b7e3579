import { consolidateAfterMs } from "../../disruption/cluster/consolidate-after.ts";
import type { CommandRecord } from "../../model/command-record.ts";
import { conditionOf, fromRfc3339, isTrue, rfc3339, withoutCondition } from "../../model/conditions.ts";
import { NODE_POOL } from "../../model/labels.ts";
import type { NodeClaim } from "../../model/node-claim.ts";
import type { NodeClaimRecord } from "../../model/node-claim-record.ts";
import type { NodePool } from "../../model/node-pool.ts";
import type { Snapshot } from "../../model/snapshot.ts";
import { departureOf } from "./drain-time.ts";
import { type Coming, type Stage, typesOfClaim, UP_MS } from "./stage.ts";

/** Records and commands of a cluster, from the DynamoDB table; a snapshot file has neither. */
export interface Intents {
  readonly records?: readonly NodeClaimRecord[];
  readonly commands?: readonly CommandRecord[];
}

/**
 * The first stage of a snapshot. NodeClaims whose records are terminating are deleted, because only the objects are
 * simulated further. Of commands under way, nodes that are being replaced or deleted are deleted; a command that is
 * being validated or rolled back is dropped, and disruption decides again.
 */
export function stageOf(snapshot: Snapshot, { records = [], commands = [] }: Intents = {}): Stage {
  const byName = new Map(records.map((record) => [record.name, record]));
  const pools = new Map(snapshot.nodePools.map((pool) => [pool.metadata.name, pool]));
  const deleting = new Set([
    ...snapshot.disrupting,
    ...records.flatMap(({ name, terminating }) => (terminating ? [name] : [])),
    ...commands.flatMap(({ phase, candidates }) =>
      phase === "Replacing" || phase === "Deleting" ? candidates.map(({ nodeClaim }) => nodeClaim) : [],
    ),
  ]);
  const nodeClaims = snapshot.nodeClaims.map((claim) => {
    const dated = withPodEventTime(claim, pools.get(claim.metadata.labels?.[NODE_POOL] ?? ""));
    return deleting.has(claim.metadata.name) ? deleted(dated, snapshot.now) : dated;
  });
  const plain = { ...snapshot, nodeClaims, disrupting: new Set<string>() };
  const { now } = snapshot;
  const coming = nodeClaims.filter((claim) => !claim.metadata.deletionTimestamp && !isTrue(claim.status?.conditions, "Initialized"));
  const leaving = nodeClaims.filter(({ metadata }) => metadata.deletionTimestamp);
  return {
    snapshot: plain,
    commands: [],
    coming: new Map(
      coming.map((claim): [string, Coming] => {
        const types = byName.get(claim.metadata.name)?.instanceTypes ?? typesOfClaim(claim);
        return [claim.metadata.name, { at: now + UP_MS, types }];
      }),
    ),
    leaving: new Map(leaving.map((claim) => [claim.metadata.name, departureOf(claim, plain)])),
    nominatedUntil: new Map(),
    podsMoved: 0,
  };
}

function deleted(claim: NodeClaim, now: number): NodeClaim {
  return { ...claim, metadata: { deletionTimestamp: rfc3339(now), ...claim.metadata } };
}

/**
 * The claim with the time of its last pod event instead of its condition Consolidatable, because the condition depends
 * on the pool's consolidateAfter, which may change. Where only the condition is known, the time is derived: the
 * condition turned True consolidateAfter past the last pod event.
 */
function withPodEventTime(claim: NodeClaim, pool: NodePool | undefined): NodeClaim {
  const { conditions = [], lastPodEventTime, ...status } = claim.status ?? {};
  const consolidatable = conditionOf(conditions, "Consolidatable");
  const after = pool ? consolidateAfterMs(pool) : 0;
  const since = fromRfc3339(consolidatable?.lastTransitionTime);
  const derived = consolidatable?.status === "True" && Number.isFinite(after) ? since - after : since;
  const at = lastPodEventTime === undefined ? derived : fromRfc3339(lastPodEventTime);
  return {
    ...claim,
    status: {
      ...status,
      conditions: withoutCondition(conditions, "Consolidatable"),
      ...(!Number.isNaN(at) && { lastPodEventTime: rfc3339(at) }),
    },
  };
}
