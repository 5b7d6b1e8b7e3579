import { CAPACITY_TYPE } from "#core/model/labels.ts";
import type { Node } from "#core/model/node.ts";
import type { NodeClaim } from "#core/model/node-claim.ts";
import type { NodePool } from "#core/model/node-pool.ts";
import { PRODUCT } from "#lab/world/api-server.ts";
import type { SimulatedInstance } from "#lab/world/simulated-instance.ts";
import type { Change } from "#lab/world/store.ts";
import { NODE_CHARGE } from "../../support/scheduling/claim-cost.ts";
import { wasHeldWithin } from "../pauses.ts";
import { forcedCause, hasDrifted } from "./causes.ts";
import { isDisrupted, isHeld, nameOf } from "./facts.ts";
import type { ClaimLife, History } from "./history.ts";
import type { Invariant, Scene } from "./invariant.ts";
import { isSurplus } from "./static-pools.ts";

/** The beginning of a voluntary disruption, with what the pass that begins it can have known. */
interface Beginning {
  readonly life: ClaimLife;
  readonly node: string;
  /** When the pass read the pods of the cluster, ms. */
  readonly readAt: number;
}

/**
 * A node that the product taints as disrupted while nothing in the world makes it end and nobody has asked its
 * NodeClaim to go: its own decision.
 */
function begun({ kind, type, object, old, user }: Change, { history, lab }: Scene): Beginning | undefined {
  if (kind !== "Node" || type !== "MODIFIED" || user !== PRODUCT) return undefined;
  if (!isDisrupted(object as unknown as Node) || isDisrupted(old as unknown as Node)) return undefined;
  const life = history.claimOfNode(object.metadata.name);
  const now = lab.world.clock.now();
  if (life === undefined || life.deletedAt !== undefined || forcedCause(life, now, history) !== undefined) return undefined;
  return { life, node: object.metadata.name, readAt: history.readAt("Pod") ?? now };
}

/** The reasons that the world gives for a disruption: those that a budget may name. */
function reasonsFor({ life, node, readAt }: Beginning, history: History): readonly string[] {
  return [
    ...(history.podsOn(node, readAt).length === 0 ? ["Empty"] : []),
    ...(hasDrifted(life, history, readAt) ? ["Drifted"] : []),
    "Underutilized",
  ];
}

/** The most permissive budget at the time. Windows are those of draw/world.ts: the first minutes of each hour. */
function widest(pool: NodePool, reasons: readonly string[], total: number, now: number, skewMs: number): number {
  const at = (time: number, reason: string): number => {
    const limits = (pool.spec.disruption?.budgets ?? [{ nodes: "10%" }])
      .filter(({ reasons: own = [] }) => own.length === 0 || (own as readonly string[]).includes(reason))
      .filter(({ schedule, duration }) => schedule === undefined || new Date(time).getUTCMinutes() < Number.parseInt(duration ?? "0", 10))
      .map(({ nodes }) => (nodes.endsWith("%") ? Math.ceil((Number.parseInt(nodes, 10) / 100) * total) : Number(nodes)));
    return Math.min(...limits, Number.POSITIVE_INFINITY);
  };
  return Math.max(...reasons.flatMap((reason) => [now - skewMs, now, now + skewMs].map((time) => at(time, reason))));
}

/**
 * The nodes of the NodePool that go with this one, where its budgets do not allow so many; undefined where they do.
 * @param reasons for which the node may go
 * @param readAt when the pass that decides has read the cluster, ms
 */
export function overBudget(life: ClaimLife, reasons: readonly string[], readAt: number, { history, lab }: Scene): string | undefined {
  const now = lab.world.clock.now();
  const own = [...history.claims.values()].filter(
    (c) => c.pool === life.pool && c.initializedAt !== undefined && c.goneAt === undefined && c.machineEndedAt === undefined,
  );
  // What was deleted in the millisecond of the reading may have been read before it.
  const going = own.filter(({ taintedAt, deletedAt = Number.POSITIVE_INFINITY }) =>
    taintedAt === undefined ? deletedAt < readAt : deletedAt < readAt || deletedAt > now,
  );
  const total = own.length;
  // The same of what was edited in it.
  const pools = history.poolsWithin(life.pool, Math.min(readAt, history.readAt("NodePool") ?? readAt) - 1, now);
  const allowed = Math.max(...pools.map((pool) => widest(pool, reasons, total, readAt, history.skewMs)), 0);
  if (going.length <= allowed) return undefined;
  return `${going.length} nodes of pool ${life.pool} go (${going.map(({ name }) => name).join(", ")}), its budgets allow ${allowed} of ${total}`;
}

export const budgetsKept: Invariant = {
  name: "budgets kept",
  law: "No pass taints more nodes of a pool than its budgets, read in that pass, allow beside the nodes that go already.",
  watch: (scene, violated) => ({
    onChange(change) {
      const start = begun(change, scene);
      const problem = start && overBudget(start.life, reasonsFor(start, scene.history), start.readAt, scene);
      if (problem !== undefined) violated(problem);
    },
  }),
};

export const holdersLeftAlone: Invariant = {
  name: "holders left alone",
  law: "No voluntary disruption begins on a node with a pod that do-not-disrupt protects, except for drift under a terminationGracePeriod.",
  watch: (scene, violated) => ({
    onChange(change) {
      const start = begun(change, scene);
      if (start === undefined) return;
      const { life, node, readAt } = start;
      const { history } = scene;
      if (life.claim.spec.terminationGracePeriod !== undefined && hasDrifted(life, history, readAt)) return;
      const held = history.podsOn(node, readAt).find((p) => p.holdChangedAt <= readAt && isHeld(p.pod, readAt + history.skewMs));
      if (held) violated(`node ${node} of claim ${life.name} is being disrupted although pod ${nameOf(held.pod)} is not to be`);
    },
  }),
};

export const reasonOf = (claim: NodeClaim): string | undefined =>
  claim.status?.conditions?.find(({ type, status }) => type === "DisruptionReason" && status === "True")?.reason;

/** Time between a decision and the second look, ms. Two clocks may differ by a part of it. */
const SECOND_LOOK_MS = 15_000;
/** A pod that stayed this long before it went was there when a decision before its end was taken, ms. */
const STAY_MS = 60_000;

export const reasonsTrue: Invariant = {
  name: "reasons are true",
  law: "A node that is disrupted as Empty has no pod, and had none 15 seconds before; one that is Drifted differs from its pool.",
  watch: ({ history, lab }, violated) => ({
    onChange({ kind, type, object, old }) {
      if (kind !== "NodeClaim" || type !== "MODIFIED") return;
      const claim = object as unknown as NodeClaim;
      const reason = reasonOf(claim);
      const life = history.claims.get(claim.metadata.uid ?? "");
      if (reason === undefined || reason === reasonOf(old as unknown as NodeClaim) || life?.nodeName === undefined) return;
      const now = lab.world.clock.now();
      const readAt = history.readAt("Pod") ?? now;
      if (forcedCause(life, now, history) !== undefined) return;
      if (reason === "Drifted" && !hasDrifted(life, history, now)) violated(`claim ${life.name} is Drifted, but its pool has not changed`);
      if (reason !== "Empty") return;
      const [there] = history.podsOn(life.nodeName, readAt);
      if (there) violated(`claim ${life.name} is Empty, but pod ${nameOf(there.pod)} was on its node when that was read`);
      const left = history
        .podsOn(life.nodeName, readAt - Math.max(0, SECOND_LOOK_MS - history.skewMs))
        .find(({ boundAt = now, endedAt = now }) => boundAt <= readAt - STAY_MS && endedAt <= readAt);
      if (left)
        violated(
          `claim ${life.name} is Empty, but pod ${nameOf(left.pod)} left its node only ${(readAt - (left.endedAt ?? 0)) / 1_000} s before`,
        );
    },
  }),
};

/** How long EC2 is not asked again for what it has no capacity of, ms. */
const MARKED_MS = 180_000;
/** From the decision that a NodeClaim goes to its deletion, ms: calls fail, and wake-ups come late. */
const DELETED_WITHIN_MS = 180_000;

/** From a refusal of the API server to the end of what it refused, ms: the sweep ends it when its wake-up is lost. */
const REFUSED_MS = 180_000;

/** Whether the NodeClaim may be launched into a reservation. */
const mayBeReserved = ({ claim }: ClaimLife): boolean =>
  claim.spec.requirements.some(({ key, values }) => key === CAPACITY_TYPE && values?.includes("reserved"));

export const endsHaveCause: Invariant = {
  name: "ends have a cause",
  law: "The product ends a NodeClaim for its expiry, a notice, a user, broken hardware, a time-out, a pause before its launch, too many replicas, or because EC2 has no machine for it, or after it has tainted its node for a disruption.",
  watch: ({ history, lab, faults }, violated) => ({
    onChange({ kind, verb, object, user, type }) {
      if (kind !== "NodeClaim" || user !== PRODUCT || verb !== "delete" || type === "ADDED") return;
      const life = history.claims.get(object.metadata.uid ?? "");
      const now = lab.world.clock.now();
      if (life === undefined || life.deletedAt !== now || life.taintedAt !== undefined || forcedCause(life, now, history) !== undefined)
        return;
      if (isSurplus(life, now, history)) return;
      // EC2 may have told another NodeClaim that it has no machine for this one, either.
      if (life.machine === undefined && now - history.soldOutAt() < MARKED_MS + DELETED_WITHIN_MS + history.skewMs) return;
      // Its creation, which had succeeded without an answer, was refused when it was repeated.
      const isRefused = faults.hits.some(
        ({ what, at, about }) => what.startsWith("fail refused") && about === life.name && now - at < REFUSED_MS,
      );
      if (life.machine === undefined && isRefused) return;
      // Others of the account may have used a reservation up meanwhile.
      if (life.machine === undefined && mayBeReserved(life)) return;
      if (life.registeredAt === undefined && wasHeldWithin(lab, now - DELETED_WITHIN_MS, now)) return;
      violated(`claim ${life.name} was deleted ${Math.round((now - life.addedAt) / 1_000)} s after it was made, without a cause`);
    },
  }),
};

export const replacementsFirst: Invariant = {
  name: "replacements first",
  law: "No node goes for a disruption before each of its replacements has an initialized node, and they cost less than what they replace unless it has drifted.",
  watch: ({ history, lab }, violated) => ({
    onChange({ kind, verb, object, user, type }) {
      if (kind !== "NodeClaim" || user !== PRODUCT || verb !== "delete" || type === "ADDED") return;
      const life = history.claims.get(object.metadata.uid ?? "");
      const now = lab.world.clock.now();
      const promise = life && history.replacing(life.name);
      if (!promise || life.deletedAt !== now || forcedCause(life, now, history) !== undefined) return;
      const coming = promise.replacements.map((name) => history.claimNamed(name));
      const late = promise.replacements.filter((_, i) => coming[i]?.initializedAt === undefined);
      if (late.length > 0) return violated(`claim ${life.name} was deleted while its replacements ${late.join(", ")} were not initialized`);
      const leaving = promise.candidates.map((name) => history.claimNamed(name));
      if (leaving.some((one) => one === undefined || hasDrifted(one, history, now) || one.notice !== undefined)) return;
      // An overlay's price is not what EC2 asks for.
      if (lab.deps.settings.nodeOverlay) return;
      // The surplus credits of a burstable machine are on nobody's price list.
      if (leaving.some((one) => /^t\d/.test(one?.machine?.instance.instanceType ?? ""))) return;
      // Spot prices move for hours after a launch: what leaves costs as much as it did, or as it does now.
      const { spot = {}, onDemand } = lab.cloud.market();
      const priceNow = ({ instanceType, zone, capacityType }: SimulatedInstance["instance"]): number =>
        (capacityType === "spot" ? spot[instanceType]?.[zone] : onDemand[instanceType]) ?? 0;
      const before = costOf(leaving, ({ instance, price }) => Math.max(price, priceNow(instance)));
      // What a Savings Plan pays for costs nothing more.
      const isPaid = lab.deps.settings.savingsPlans.length > 0;
      const after = costOf(coming, ({ instance, price }) => (isPaid && instance.capacityType === "on-demand" ? 0 : price));
      if (after >= before * SPOT_PRICES_MOVE)
        violated(
          `claims ${promise.candidates.join(", ")} ($${before.toFixed(4)}) are replaced by machines for $${after.toFixed(4)} an hour`,
        );
    },
  }),
};

/** How much spot prices may move between the reading that a decision knows, of up to 12 hours ago, and the launch. */
const SPOT_PRICES_MOVE = 1.1;

/** USD per hour of machines, and of their nodes besides. */
const costOf = (lives: readonly (ClaimLife | undefined)[], priceOf: (machine: SimulatedInstance) => number): number =>
  lives.reduce((sum, life) => sum + (life?.machine ? priceOf(life.machine) : 0) + NODE_CHARGE, 0);
