import type { NodeClaim } from "#core/model/node-claim.ts";
import { PRODUCT } from "#lab/world/api-server.ts";
import type { Change } from "#lab/world/store.ts";
import { isSick } from "./causes.ts";
import { overBudget, reasonOf } from "./disruptions.ts";
import { SICKNESS_TOLERATED_MS } from "./facts.ts";
import type { ClaimLife, History } from "./history.ts";
import type { Invariant } from "./invariant.ts";

const MINUTE_MS = 60_000;
/** The share of a NodePool's nodes that may be broken while broken nodes are replaced. */
const MAX_SHARE = 0.2;
const NEVER = Number.POSITIVE_INFINITY;
/** What changed so shortly before a repair may not have been read, ms. */
const UNREAD_MS = MINUTE_MS;
/** A sweep, a replacement, retries and periods of faults, ms. */
const RECOVERY_MS = 30 * MINUTE_MS;
/** Events that say why a node is not repaired, and how long one counts, ms. */
const TOLD = new Set(["DisruptionBlocked", "NodeRepairBlocked", "Unconsolidatable"]);
const TOLD_MS = 16 * MINUTE_MS;

/** Whether a node counts for the share of broken ones: a NodePool's own, and for a NodeClaim without NodePool all. */
const isPeer = ({ pool }: ClaimLife, life: ClaimLife): boolean => life.pool === "" || pool === life.pool;

export const sickReplaced: Invariant = {
  name: "broken nodes are replaced",
  law: "Under NodeRepair a node whose hardware stays broken goes, unless an event says why not, its NodePool's budgets are used up, or more than a fifth of that is broken.",
  watch: ({ lab, history }, violated) => {
    const since = new Map<string, number>();
    const isTold = ({ name, nodeName }: ClaimLife, now: number): boolean =>
      lab.world.events.some(
        ({ reason, about, at }) => TOLD.has(reason) && now - at < TOLD_MS && [name, nodeName].includes(about.metadata.name),
      );
    return {
      check: ({ now, pools }) => {
        if (!lab.deps.settings.nodeRepair) return;
        const staying = [...history.claims.values()].filter((life) => life.deletedAt === undefined && life.goneAt === undefined);
        const isBroken = (life: ClaimLife): boolean => life.sick !== undefined && life.sick.until === undefined;
        const closed = new Set(pools.flatMap(({ metadata, spec }) => (isEverClosed(spec.disruption?.budgets) ? [metadata.name] : [])));
        for (const life of staying) {
          // A node that drains is one of its NodePool's, too.
          const peers = [...history.claims.values()].filter(
            (other) => isPeer(other, life) && other.registeredAt !== undefined && other.goneAt === undefined,
          );
          const isLone = peers.filter(isBroken).length <= 1;
          const isHeld = closed.has(life.pool) || peers.some(isLeaving) || isTold(life, now);
          if (!isBroken(life) || !isSick(life, now, history) || !isLone || isHeld) {
            since.delete(life.uid);
            continue;
          }
          const start = since.get(life.uid) ?? now;
          since.set(life.uid, start);
          if (now - start > RECOVERY_MS)
            violated(
              `claim ${life.name} stays ${Math.round((now - start + SICKNESS_TOLERATED_MS) / MINUTE_MS)} minutes with broken hardware`,
            );
        }
      },
    };
  },
};

const isLeaving = ({ taintedAt, deletedAt }: ClaimLife): boolean => taintedAt !== undefined || deletedAt !== undefined;

const isEverClosed = (budgets: readonly { readonly nodes: string }[] = []): boolean =>
  budgets.some(({ nodes }) => Number.parseInt(nodes, 10) === 0);

/** The NodeClaim that the product begins to repair. */
function repaired({ kind, type, object, old, user }: Change, history: History): ClaimLife | undefined {
  if (kind !== "NodeClaim" || type !== "MODIFIED" || user !== PRODUCT) return undefined;
  if (reasonOf(object as unknown as NodeClaim) !== "Unhealthy" || reasonOf(old as unknown as NodeClaim) === "Unhealthy") return undefined;
  return history.claims.get(object.metadata.uid ?? "");
}

export const fewRepaired: Invariant = {
  name: "broken nodes are replaced while few are broken",
  law: "Repair begins only on a node whose hardware is broken, and not while more than a fifth of its NodePool's nodes, rounded up, are.",
  watch: ({ lab, history }, violated) => ({
    onChange(change) {
      const life = repaired(change, history);
      if (life === undefined) return;
      const now = lab.world.clock.now();
      const before = now - UNREAD_MS;
      if (!isSick({ ...life, sick: life.sick && { from: life.sick.from } }, now, history))
        violated(`claim ${life.name} is repaired, and its hardware works`);
      const peers = [...history.claims.values()].filter((other) => {
        const { registeredAt = now, goneAt = now } = other;
        return isPeer(other, life) && registeredAt < now && goneAt >= before;
      });
      const broken = peers.filter(
        ({ sick, machineEndedAt = NEVER, goneAt = NEVER }) =>
          sick !== undefined && sick.from < before && Math.min(sick.until ?? NEVER, machineEndedAt, goneAt) > now,
      );
      if (broken.length > Math.ceil(peers.length * MAX_SHARE))
        violated(`claim ${life.name} is repaired, while ${broken.length} of ${peers.length} nodes of pool ${life.pool} are broken`);
    },
  }),
};

export const repairsBudgeted: Invariant = {
  name: "repairs within budgets",
  law: "Repair begins on no more nodes of a pool than its budgets of the reason Unhealthy allow beside the nodes that go already.",
  watch: (scene, violated) => ({
    onChange(change) {
      const { history, lab } = scene;
      const life = repaired(change, history);
      if (life?.initializedAt === undefined) return;
      const readAt = history.readAt("Pod") ?? lab.world.clock.now();
      const problem = overBudget(life, ["Unhealthy"], readAt, scene);
      if (problem !== undefined) violated(problem);
    },
  }),
};
