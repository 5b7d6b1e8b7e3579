import type { NodeClaim } from "#core/model/node-claim.ts";
import type { EC2NodeClass } from "#core/model/node-class.ts";
import { PRODUCT } from "#lab/world/api-server.ts";
import type { Change } from "#lab/world/store.ts";
import type { Invariant, Scene } from "./invariant.ts";

/** A drift as it began: what its NodePool and its EC2NodeClass asked for then, and when it was over. */
interface Drift {
  readonly claim: string;
  readonly at: number;
  /** Of the NodePool and of the EC2NodeClass. */
  readonly asked: readonly string[];
  overAt?: number;
}

/** So long the first node is waited for while it goes (docs/limits.md), ms. */
const SLOW_MS = 15 * 60_000;

/** Whether the product says of a NodeClaim that it goes because it has drifted. */
const isDrifting = ({ status }: NodeClaim): boolean =>
  status?.conditions?.some(({ type, status: is, reason }) => type === "DisruptionReason" && is === "True" && reason === "Drifted") ?? false;

function askedBy(claim: NodeClaim, { lab, history }: Scene): readonly string[] {
  const now = lab.world.clock.now();
  const pool = history.poolsWithin(history.claimNamed(claim.metadata.name)?.pool ?? "", now, now)[0];
  const name = claim.spec.nodeClassRef.name;
  const nodeClass = lab.world.store.get("EC2NodeClass", name) as unknown as EC2NodeClass | undefined;
  return [
    JSON.stringify(["NodePool", pool?.metadata.name, pool?.spec.template]),
    JSON.stringify(["EC2NodeClass", name, nodeClass?.spec, nodeClass?.status?.amis]),
  ];
}

export const firstDriftWaited: Invariant = {
  name: "first drift waited for",
  law: "Of nodes with pods that drift from the same NodePool's template, or EC2NodeClass, no second one begins to go before the first is gone, is given up, or has been going for 15 minutes.",
  watch(scene, violated) {
    const drifts: Drift[] = [];
    const { lab, history, faults } = scene;
    const ended = ({ type, object, old }: Change): boolean =>
      type === "DELETED" || (isDrifting(old as unknown as NodeClaim) && !isDrifting(object as unknown as NodeClaim));
    return {
      onChange(change) {
        const { kind, type, object, old, user } = change;
        if (kind !== "NodeClaim" || type === "ADDED") return;
        const now = lab.world.clock.now();
        const claim = object as unknown as NodeClaim;
        for (const drift of drifts) if (drift.claim === claim.metadata.name && ended(change)) drift.overAt ??= now;
        if (user !== PRODUCT || !isDrifting(claim) || (old !== undefined && isDrifting(old as unknown as NodeClaim))) return;
        const readAt = history.readAt("Pod") ?? now;
        const node = history.claimNamed(claim.metadata.name)?.nodeName;
        if (node === undefined || history.podsOn(node, readAt).length === 0) return;
        const drift: Drift = { claim: claim.metadata.name, at: now, asked: askedBy(claim, scene) };
        const before = drifts.filter(({ claim: other }) => other !== drift.claim);
        drifts.push(drift);
        for (const asked of drift.asked) {
          const same = before.filter((one) => one.asked.includes(asked) && one.at > faults.recordsLostAt());
          const isProven = same.some(({ at, overAt = Number.POSITIVE_INFINITY }) => overAt <= now || now - at >= SLOW_MS - history.skewMs);
          if (same.length > 0 && !isProven) violated(`claim ${drift.claim} begins to drift while ${same[0]?.claim} is the first and goes`);
        }
      },
    };
  },
};
