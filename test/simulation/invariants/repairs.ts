import { isSick } from "./causes.ts";
import { SICKNESS_TOLERATED_MS } from "./facts.ts";
import type { ClaimLife } from "./history.ts";
import type { Invariant } from "./invariant.ts";

const MINUTE_MS = 60_000;
/** A sweep, retries and periods of faults, ms. */
const RECOVERY_MS = 20 * MINUTE_MS;

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
          const peers = staying.filter(({ pool, registeredAt }) => pool === life.pool && registeredAt !== undefined);
          const isLone = peers.filter(isBroken).length <= 1;
          if (!isBroken(life) || !isSick(life, now) || !isLone) {
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
