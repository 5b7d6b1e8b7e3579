import type { Node } from "#core/model/node.ts";
import type { NodeClaim } from "#core/model/node-claim.ts";
import { PRODUCT } from "#lab/world/api-server.ts";
import { CLAIM_UID, FINALIZER, instanceIdOf, isAlive } from "./facts.ts";
import { CHECK_MS, type Invariant } from "./invariant.ts";

export const finalizerLast: Invariant = {
  name: "finalizer last",
  law: "The product takes its finalizer off a Node or NodeClaim only when its machine no longer runs.",
  watch: ({ lab, table }, violated) => ({
    onChange: ({ kind, object, old, user, type }) => {
      if (user !== PRODUCT || (kind !== "Node" && kind !== "NodeClaim") || type === "ADDED") return;
      const before = (type === "DELETED" ? [FINALIZER] : old?.metadata.finalizers) ?? [];
      if (!before.includes(FINALIZER) || object.metadata.finalizers?.includes(FINALIZER)) return;
      const id = instanceIdOf(
        kind === "Node" ? (object as unknown as Node).spec.providerID : (object as unknown as NodeClaim).status?.providerID,
      );
      const machine = lab.cloud
        .machines()
        .find((m) => (id === undefined ? m.instance.tags[CLAIM_UID] === object.metadata.uid : m.instance.id === id));
      if (!machine || !isAlive(machine)) return;
      const lost = (): void =>
        violated(`${kind} ${object.metadata.name} lost its finalizer while ${machine.instance.id} is ${machine.instance.state}`);
      if (id !== undefined) return lost();
      // Nobody may know of a machine whose launch lost its answer: it is garbage then.
      void table.byInstance(machine.instance.id).then((record) => record && lost());
    },
  }),
};

export const livingKeepTheirMachines: Invariant = {
  name: "the living keep their machines",
  law: "The product terminates no machine whose claim exists and is not asked to go.",
  watch: ({ lab, history }, violated) => ({
    onCall: ({ port, method, args }) => {
      if (port !== "fleet" || method !== "terminate") return;
      const [id] = args as [string];
      const machine = lab.cloud.machines().find(({ instance }) => instance.id === id);
      const life = history.claims.get(machine ? history.uidOf(machine.instance) : "");
      if (!machine || !isAlive(machine) || !life || life.deletedAt !== undefined || life.goneAt !== undefined) return;
      const own = instanceIdOf(life.claim.status?.providerID);
      // A second machine of one NodeClaim is not its own.
      if (own === undefined || own === id) violated(`${id} was terminated although claim ${life.name} stays`);
    },
  }),
};

/**
 * Age at which an orphan is collected (5 min), a sweep, EC2's lag, and wake-ups that are lost. Time in which a service
 * does not answer is not counted: such periods follow one another.
 */
const ORPHAN_MS = 15 * 60_000;

export const noOrphans: Invariant = {
  name: "no orphans",
  law: "No machine runs longer than the garbage collection's period without a claim and a record that own it.",
  watch: ({ history, faults }, violated) => {
    /** How long each has been alone while all services answered, ms, by instance ID. */
    const alone = new Map<string, number>();
    return {
      check: ({ machines, records, claims }) => {
        const owners = new Map(records.flatMap(({ instance, uid = "" }) => (instance ? [[instance.id, uid] as const] : [])));
        const uids = new Set(claims.map(({ metadata }) => metadata.uid));
        const passed = faults.isStormy() ? 0 : CHECK_MS;
        for (const machine of machines) {
          const { id } = machine.instance;
          // A machine that was launched together with others says whose it is when its NodeClaim does, which a policy
          // of the API server may refuse for long.
          const owner = owners.get(id);
          const isOwned = owner !== undefined && uids.has(history.uidOf(machine.instance) || owner);
          if (!isAlive(machine) || isOwned) alone.delete(id);
          else {
            const aloneMs = (alone.get(id) ?? 0) + passed;
            alone.set(id, aloneMs);
            if (aloneMs > ORPHAN_MS)
              violated(`${id} runs for ${Math.round(aloneMs / 60_000)} minutes without a claim and record of its own`);
          }
        }
      },
    };
  },
};
