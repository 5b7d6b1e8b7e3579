import type { NodeOverlay } from "#core/model/node-overlay.ts";
import type { NodePool } from "#core/model/node-pool.ts";
import { DEAR } from "../draw/features.ts";
import { GROUP } from "./facts.ts";
import type { Invariant } from "./invariant.ts";
import { isOutOfLimits } from "./out-of-limits.ts";

const MINUTE_MS = 60_000;
/** An overlay is in force once its status says so, and plans may be older than it, ms. */
const IN_FORCE_MS = 4 * MINUTE_MS;

/** What the largest machine of the family with less memory has for pods, MiB: 16 GiB less what the system takes. */
const MAX_OTHERS_MIB = 14_000;

export const dearLeftAlone: Invariant = {
  name: "dear types left alone",
  law: "No machine of a family that a NodeOverlay has made ten times as expensive is bought while others have capacity and limits leave room.",
  watch: ({ lab, history }, violated) => {
    let dear: { readonly family: string; readonly since: number } | undefined;
    return {
      onChange: ({ kind, type, object }) => {
        if (kind !== "NodeOverlay") return;
        const { spec } = object as unknown as NodeOverlay;
        const isDear = type !== "DELETED" && spec.priceAdjustment === DEAR;
        const since = dear?.since ?? lab.world.clock.now();
        dear = isDear ? { family: spec.requirements[0]?.values?.[0] ?? "", since } : undefined;
      },
      onLaunch: ({ instance }) => {
        const now = lab.world.clock.now();
        const life = history.claims.get(history.uidOf(instance)) ?? history.membersOf(instance.tags[GROUP])[0];
        if (dear === undefined || life === undefined || life.byUser || instance.capacityType === "reserved") return;
        const isLate = life.plannedAt - dear.since > IN_FORCE_MS;
        const isShort = lab.cloud.outages.some(({ until = now }) => now - until < IN_FORCE_MS);
        // What limits leave may hold the pods as a dear type alone, with more memory than the others have.
        const pools = lab.world.store.list("NodePool") as unknown as readonly NodePool[];
        const asked = /^(\d+)Mi$/.exec(String(life.claim.spec.resources?.requests?.["memory"]));
        const isLarge = Number(asked?.[1] ?? 0) > MAX_OTHERS_MIB;
        const isLast = isLarge && isOutOfLimits(life.pool, { now: lab.world.clock.now(), pools, machines: lab.cloud.machines() });
        if (isLate && !isShort && !isLast && instance.instanceType.startsWith(`${dear.family}.`))
          violated(`${instance.id} is a ${instance.instanceType}, which an overlay has made ten times as expensive`);
      },
    };
  },
};
