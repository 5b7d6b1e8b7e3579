import type { HistoryEntry } from "#core/model/history-entry.ts";
import type { SimulatedInstance } from "#lab/world/simulated-instance.ts";
import { isAlive } from "./facts.ts";
import type { Invariant, Scene } from "./invariant.ts";

const CLUSTER = "eks:eks-cluster-name";

/** A launch may be on its way while records are lost, for so long, ms. */
const IN_PROGRESS_MS = 60_000;

/** From the end of a NodeClaim until its record is removed, ms: wake-ups fail, and a sweep looks again. */
const FORGOTTEN_WITHIN_MS = 3 * 60_000;
/** The same where services do not answer for minutes. */
const FORGOTTEN_IN_OUTAGES_MS = 15 * 60_000;

/** Whether the record of a machine may have been lost, so that its NodeClaim was adopted. */
const mayBeAdopted = ({ instance }: SimulatedInstance, { faults }: Scene): boolean =>
  instance.launchedAt <= faults.recordsLostAt() + IN_PROGRESS_MS;

/**
 * The machines of the cluster that satisfy a condition, without those that were launched before the table, and the
 * history with it, was lost. None where a version runs that keeps no history.
 */
const machinesOf = ({ lab, faults, keepsHistory }: Scene, isMeant: (machine: SimulatedInstance) => boolean): readonly SimulatedInstance[] =>
  (keepsHistory ? lab.cloud.machines() : [])
    .filter(({ instance }) => instance.tags[CLUSTER] === lab.world.cluster && instance.launchedAt > faults.tableLostAt() + IN_PROGRESS_MS)
    .filter(isMeant);

/** The entries that tell of the machine's end or launch. */
const about = (told: readonly HistoryEntry[], id: string, types: readonly HistoryEntry["type"][]): readonly HistoryEntry[] =>
  told.filter((entry) => types.includes(entry.type) && "machine" in entry && entry.machine?.instanceId === id);

export const endsTold: Invariant = {
  name: "ends told",
  law: "Of each machine that has ended the history says once that it is gone, and why: a reason, with the entry that decided it.",
  watch: (scene, violated) => {
    /** The instances that the product has asked EC2 to end. */
    const asked = new Set<unknown>();
    return {
      onCall: ({ port, method, args }) => {
        if (port === "fleet" && method === "terminate") asked.add(args[0]);
      },
      atEnd: ({ now }, told) => {
        const decided = new Set(
          told.flatMap((entry) => (entry.type === "Terminating" ? [`${entry.nodeClaim} ${entry.intent} ${entry.reason}`] : [])),
        );
        const isStale = scene.faults.hits.some(({ what }) => what === "stale lists");
        for (const { instance } of machinesOf(scene, (machine) => !isAlive(machine))) {
          const ends = about(told, instance.id, ["Removed", "Collected"]);
          // The answer of its launch was lost, and EC2 took it back before anybody looked for it.
          if (ends.length === 0 && !asked.has(instance.id) && about(told, instance.id, ["Launched", "Adopted"]).length === 0) continue;
          const { goneAt = Number.NaN, machineEndedAt = Number.NaN } = scene.history.claimOfInstance(instance.id) ?? {};
          // Not every run ends at rest.
          if (ends.length === 0 && now - machineEndedAt < FORGOTTEN_WITHIN_MS) continue;
          // Its record was lost when its NodeClaim had just gone: nobody adopts it, and nobody tells of it.
          const sinceGone = scene.faults.recordsLostAt() - goneAt;
          if (ends.length === 0 && sinceGone >= 0 && sinceGone < FORGOTTEN_IN_OUTAGES_MS) continue;
          // Old lists show a machine that has gone, and what nobody owns is collected.
          const twice = isStale && ends.length === 2 && ends.some(({ type }) => type === "Collected");
          if (ends.length !== 1 && !twice) violated(`${instance.id} has ended, and the history tells of it ${ends.length} times`);
          for (const end of ends)
            if (end.type === "Removed" && !decided.has(`${end.nodeClaim} ${end.intent} ${end.reason}`))
              violated(`${instance.id} has ended by ${end.reason}, and no entry says that this was decided`);
        }
      },
    };
  },
};

export const launchesTold: Invariant = {
  name: "launches told",
  law: "Of each machine that runs the history says once that it was launched or adopted, for which NodeClaim and at which price.",
  watch: (scene, violated) => ({
    atEnd: ({ records }, told) => {
      const known = new Map(records.flatMap((record) => (record.instance ? [[record.instance.id, record] as const] : [])));
      for (const machine of machinesOf(scene, isAlive)) {
        const { instance } = machine;
        const record = known.get(instance.id);
        const starts = about(told, instance.id, ["Launched", "Adopted"]);
        const hasEventSource = starts.length === 1 || (starts.length === 2 && mayBeAdopted(machine, scene));
        if (!hasEventSource) violated(`${instance.id} runs, and the history tells of its launch ${starts.length} times`);
        if (record?.launchPrice?.pricePerHour === undefined) violated(`the record of ${record?.name} has no price of ${instance.id}`);
      }
    },
  }),
};
