import type { Node } from "#core/model/node.ts";
import type { NodeClaim } from "#core/model/node-claim.ts";
import type { NodePool } from "#core/model/node-pool.ts";
import { durationMs, is, isActive, isDaemon, isStaticPool, POOL } from "./facts.ts";
import type { Sight } from "./invariant.ts";
import { isOutOfLimits } from "./out-of-limits.ts";

const MINUTE_MS = 60_000;
/** From the expiry of a NodeClaim until it is asked to go, ms: a sweep. */
const NOTICED_MS = 3 * MINUTE_MS;
/** A label of NodePools' templates that users change (draw/acts.ts). */
const GENERATION = "sim/generation";

/**
 * Sentences about nodes that no user wants any more: empty ones, those that differ from their NodePool, and those past
 * their expiry. Nothing else ends their bill. Each must go when nothing goes wrong, as its NodePool allows.
 */
export function overdue(sight: Sight): readonly string[] {
  const pools = new Map(sight.pools.map((pool) => [pool.metadata.name, pool]));
  const nodes = new Map(sight.nodes.map((node) => [node.spec.providerID, node]));
  return sight.claims.flatMap((claim) => {
    const { name, creationTimestamp = "", labels = {} } = claim.metadata;
    if (sight.now > Date.parse(creationTimestamp) + durationMs(claim.spec.expireAfter ?? "720h") + NOTICED_MS)
      return [`claim ${name} is past its expiry`];
    const pool = pools.get(labels[POOL] ?? "");
    const node = nodes.get(claim.status?.providerID);
    if (pool === undefined || node === undefined) return [];
    if (isStale(claim, pool) && mayGo(pool, "Drifted") && !isOutOfLimits(pool.metadata.name, sight))
      return [`claim ${name} differs from its pool ${pool.metadata.name}`];
    return isIdle(node, pool, sight) && mayGo(pool, "Empty") ? [`node ${node.metadata.name} is empty`] : [];
  });
}

const isStale = ({ metadata }: NodeClaim, { spec }: NodePool): boolean =>
  metadata.labels?.[GENERATION] !== spec.template.metadata?.labels?.[GENERATION];

/** Whether a node has no pod, and its NodePool lets go of such nodes. */
function isIdle(node: Node, { spec, ...pool }: NodePool, { pods, buffers }: Sight): boolean {
  if (isStaticPool({ spec, ...pool }) || buffers.length > 0 || spec.disruption?.consolidateAfter === "Never") return false;
  return is(node, "Ready") && !pods.some((pod) => pod.spec.nodeName === node.metadata.name && isActive(pod) && !isDaemon(pod));
}

/** Whether the NodePool's budgets for a reason let a node go outside of their windows. */
const mayGo = ({ spec }: NodePool, reason: string): boolean =>
  !(spec.disruption?.budgets ?? []).some(
    ({ nodes, schedule, reasons = [] }) =>
      schedule === undefined &&
      (nodes === "0" || nodes === "0%") &&
      (reasons.length === 0 || (reasons as readonly string[]).includes(reason)),
  );
