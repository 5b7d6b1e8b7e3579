import type { NodeClaim } from "../../../core/model/node-claim.ts";
import type { NodePool } from "../../../core/model/node-pool.ts";
import type { Pod } from "../../../core/model/pod.ts";
import type { Change } from "../../../lab/world/store.ts";
import { is, isActive, isHeld, nameOf, POOL } from "./facts.ts";
import { type Invariant, type Scene, SKEW_MS } from "./invariant.ts";

const reasonOf = (claim: NodeClaim): string | undefined =>
  claim.status?.conditions?.find(({ type, status }) => type === "DisruptionReason" && status === "True")?.reason;

/** The NodeClaim whose voluntary disruption begins with this change, and the reason from its condition. */
function begun(change: Change): { readonly claim: NodeClaim; readonly reason: string } | undefined {
  if (change.kind !== "NodeClaim" || change.type !== "MODIFIED") return undefined;
  const claim = change.object as unknown as NodeClaim;
  const reason = reasonOf(claim);
  return reason !== undefined && reasonOf(change.old as unknown as NodeClaim) === undefined ? { claim, reason } : undefined;
}

/** A decision, its 15 s of validation and retries of a killed pass may act on a state of this age, ms. */
const STALE_MS = 3 * 60_000;

/**
 * The most permissive budget that may have been read within `STALE_MS`. Windows are those of draw/world.ts: the first
 * minutes of each hour.
 */
function widest(pool: NodePool, reason: string, total: number, now: number): number {
  const at = (time: number): number => {
    const limits = (pool.spec.disruption?.budgets ?? [{ nodes: "10%" }])
      .filter(({ reasons }) => reasons === undefined || reasons.length === 0 || (reasons as readonly string[]).includes(reason))
      .filter(({ schedule, duration }) => schedule === undefined || new Date(time).getUTCMinutes() < Number.parseInt(duration ?? "0", 10))
      .map(({ nodes }) => (nodes.endsWith("%") ? Math.ceil((Number.parseInt(nodes, 10) / 100) * total) : Number(nodes)));
    return Math.min(...limits, Number.POSITIVE_INFINITY);
  };
  return Math.max(at(now), at(now - STALE_MS / 3), at(now - (2 * STALE_MS) / 3), at(now - STALE_MS));
}

const claimsByProviderId = ({ lab }: Scene): readonly NodeClaim[] => lab.world.store.list("NodeClaim") as unknown as readonly NodeClaim[];

export const budgetsKept: Invariant = {
  name: "budgets kept",
  law: "Never are more nodes of a pool under voluntary disruption at once than its budgets allow.",
  watch: (scene, violated) => {
    const { lab } = scene;
    const totals: { readonly at: number; readonly pool: string; readonly total: number }[] = [];
    const pools: { readonly at: number; readonly pool: NodePool }[] = [];
    const count = (pool: string): number =>
      claimsByProviderId(scene).filter((c) => c.metadata.labels?.[POOL] === pool && is(c, "Initialized")).length;
    return {
      onChange(change) {
        const now = lab.world.clock.now();
        if (change.kind === "NodePool") pools.push({ at: now, pool: (change.old ?? change.object) as unknown as NodePool });
        if (change.kind === "NodeClaim") {
          const pool = change.object.metadata.labels?.[POOL] ?? "";
          totals.push({ at: now, pool, total: count(pool) + (change.type === "DELETED" ? 1 : 0) });
        }
        const start = begun(change);
        if (start === undefined) return;
        const name = start.claim.metadata.labels?.[POOL] ?? "";
        const current = lab.world.store.get("NodePool", name) as unknown as NodePool | undefined;
        const recent = [
          ...pools.filter(({ at, pool }) => pool.metadata.name === name && now - at < STALE_MS).map(({ pool }) => pool),
          ...(current ? [current] : []),
        ];
        const total = Math.max(...totals.filter(({ at, pool }) => pool === name && now - at < STALE_MS).map((t) => t.total), count(name));
        const allowed = Math.max(...recent.map((pool) => widest(pool, start.reason, total, now)), 0);
        const going = claimsByProviderId(scene).filter(
          (c) => c.metadata.labels?.[POOL] === name && reasonOf(c) !== undefined && !is(c, "InstanceTerminating"),
        );
        if (going.length > allowed)
          violated(
            `${going.length} nodes of pool ${name} are under disruption (${going.map(({ metadata }) => metadata.name).join(", ")}), its budgets allow ${allowed} of ${total}`,
          );
      },
    };
  },
};

export const holdersLeftAlone: Invariant = {
  name: "holders left alone",
  law: "No voluntary disruption begins on a node with a pod that do-not-disrupt protects, except for drift under a terminationGracePeriod.",
  watch: (scene, violated) => {
    const { lab } = scene;
    const changed = new Map<string, number>();
    return {
      onChange(change) {
        const now = lab.world.clock.now();
        // A running pass cannot see a pod that was bound or annotated after it read the cluster.
        if (change.kind === "Pod" && change.verb !== "delete" && change.subresource !== "status")
          changed.set(change.object.metadata.uid ?? "", now);
        const start = begun(change);
        if (start === undefined || (start.reason === "Drifted" && start.claim.spec.terminationGracePeriod !== undefined)) return;
        const nodeName = start.claim.status?.nodeName;
        const pods = lab.world.store.list("Pod") as unknown as readonly Pod[];
        const held = pods.find(
          (pod) =>
            pod.spec.nodeName === nodeName &&
            isActive(pod) &&
            isHeld(pod, now + SKEW_MS) &&
            now - (changed.get(pod.metadata.uid ?? "") ?? 0) > STALE_MS / 2,
        );
        if (held)
          violated(`claim ${start.claim.metadata.name} is being disrupted (${start.reason}) although pod ${nameOf(held)} is not to be`);
      },
    };
  },
};
