import { PRODUCT } from "#lab/world/api-server.ts";
import { forcedCause, isSick, SICK } from "./causes.ts";
import { SICKNESS_TOLERATED_MS } from "./facts.ts";
import type { ClaimLife } from "./history.ts";
import type { Invariant } from "./invariant.ts";
import { isSurplus } from "./static-pools.ts";

const MINUTE_MS = 60_000;
/** The share of a NodePool's nodes that may be broken while broken nodes are replaced. */
const MAX_SHARE = 0.2;
const NEVER = Number.POSITIVE_INFINITY;
/** What changed so shortly before a repair may not have been read, ms. */
const UNREAD_MS = MINUTE_MS;
/** A sweep, retries and periods of faults, ms. */
const RECOVERY_MS = 20 * MINUTE_MS;

/** Whether a node counts for the share of broken ones: a NodePool's own, and for a NodeClaim without NodePool all. */
const isPeer = ({ pool }: ClaimLife, life: ClaimLife): boolean => life.pool === "" || pool === life.pool;

export const sickReplaced: Invariant = {
  name: "broken nodes are replaced",
  law: "Under NodeRepair a node whose hardware stays broken goes, unless more than a fifth of its NodePool is broken.",
  watch: ({ lab, history }, violated) => {
    const since = new Map<string, number>();
    return {
      check: ({ now }) => {
        if (!lab.deps.settings.nodeRepair) return;
        const staying = [...history.claims.values()].filter((life) => life.deletedAt === undefined && life.goneAt === undefined);
        const isBroken = (life: ClaimLife): boolean => life.sick !== undefined && life.sick.until === undefined;
        for (const life of staying) {
          // A node that drains is one of its NodePool's, too.
          const peers = [...history.claims.values()].filter(
            (other) => isPeer(other, life) && other.registeredAt !== undefined && other.goneAt === undefined,
          );
          const isLone = peers.filter(isBroken).length <= 1;
          if (!isBroken(life) || !isSick(life, now, history) || !isLone) {
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

export const fewRepaired: Invariant = {
  name: "broken nodes are replaced while few are broken",
  law: "No node is ended for broken hardware alone while more than a fifth of its NodePool's nodes, rounded up, are broken.",
  watch: ({ lab, history }, violated) => ({
    onChange({ kind, verb, object, user, type }) {
      if (kind !== "NodeClaim" || user !== PRODUCT || verb !== "delete" || type === "ADDED") return;
      const now = lab.world.clock.now();
      const life = history.claims.get(object.metadata.uid ?? "");
      if (life === undefined || life.deletedAt !== now || life.taintedAt !== undefined) return;
      if (forcedCause(life, now, history) !== SICK || forcedCause({ ...life, sick: undefined }, now, history) !== undefined) return;
      if (isSurplus(life, now, history)) return;
      const before = now - UNREAD_MS;
      const peers = [...history.claims.values()].filter((other) => {
        const { registeredAt = now, goneAt = now } = other;
        return isPeer(other, life) && registeredAt < now && goneAt >= before;
      });
      const broken = peers.filter(
        ({ sick, machineEndedAt = NEVER, goneAt = NEVER }) =>
          sick !== undefined && sick.from < before && Math.min(sick.until ?? NEVER, machineEndedAt, goneAt) > now,
      );
      if (broken.length > Math.ceil(peers.length * MAX_SHARE))
        violated(`claim ${life.name} was ended as broken, while ${broken.length} of ${peers.length} nodes of pool ${life.pool} are`);
    },
  }),
};
