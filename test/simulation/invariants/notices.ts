import type { CloudEvent } from "../../../lab/world/cloud-events.ts";
import { CLAIM_UID } from "./facts.ts";
import type { Invariant } from "./invariant.ts";

/** A failed message returns after the queue's 40 s; this allows two attempts and their work, ms. */
const ACT_WITHIN_MS = 100_000;

export const noticesHeeded: Invariant = {
  name: "notices heeded",
  law: "A spot interruption notice that meets at most one fault is acted upon while its machine still lives.",
  watch: ({ lab, faults }, violated) => {
    const { world, cloud } = lab;
    const open: { readonly id: string; readonly at: number }[] = [];
    cloud.onEvent((event: CloudEvent) => {
      if (event["detail-type"] === "EC2 Spot Instance Interruption Warning")
        open.push({ id: String(event.detail["instance-id"]), at: world.clock.now() });
    });
    /** The function and its queue share a name. A notice that is lost or delayed cannot be handled in time. */
    const isExcused = (from: number): boolean => {
      const hits = faults.hits.filter(({ at, fn }) => at >= from && fn === "interruption");
      return hits.length > 1 || hits.some(({ what }) => what.endsWith("message"));
    };
    return {
      check: ({ now, machines, claims, records }) => {
        for (let i = open.length - 1; i >= 0; i--) {
          const notice = open[i];
          if (notice === undefined || now - notice.at < ACT_WITHIN_MS) continue;
          open.splice(i, 1);
          const machine = machines.find(({ instance }) => instance.id === notice.id);
          const claim = claims.find(({ metadata }) => metadata.uid === machine?.instance.tags[CLAIM_UID]);
          const record = records.find(({ instance }) => instance?.id === notice.id);
          // An instance whose launch is not recorded yet belongs to no NodeClaim when its notice arrives.
          if (
            claim === undefined ||
            record === undefined ||
            machine === undefined ||
            notice.at - machine.instance.launchedAt < ACT_WITHIN_MS
          )
            continue;
          if (claim.metadata.deletionTimestamp === undefined && record.terminating === undefined && !isExcused(notice.at))
            violated(
              `claim ${claim.metadata.name} stays ${Math.round((now - notice.at) / 1_000)} s after the interruption notice of ${notice.id}`,
            );
        }
      },
    };
  },
};
