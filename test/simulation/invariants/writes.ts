import type { Lease } from "#core/model/lease.ts";
import type { NodeClaimRecord } from "#core/model/node-claim-record.ts";
import { heldSince } from "../pauses.ts";
import type { Invariant } from "./invariant.ts";

/** Fields that a record gains once and keeps until its end. */
const FACTS = ["uid", "instance", "terminating", "initializedAt"] as const;

/**
 * Whether a later write keeps a fact. More may become known of an instance. An end may be hastened: its deadline may
 * come, or come sooner.
 */
function isKept(fact: (typeof FACTS)[number], before: NodeClaimRecord, after: NodeClaimRecord): boolean {
  if (fact === "instance") return same({ ...after.instance, ...before.instance }, after.instance ?? {});
  if (fact !== "terminating") return JSON.stringify(after[fact]) === JSON.stringify(before[fact]);
  const { deadline = Number.POSITIVE_INFINITY, ...said } = before.terminating ?? {};
  const { deadline: later = Number.POSITIVE_INFINITY, ...says } = after.terminating ?? {};
  return JSON.stringify(says) === JSON.stringify(said) && later <= deadline;
}

const same = (a: object, b: object): boolean => JSON.stringify(Object.entries(a).sort()) === JSON.stringify(Object.entries(b).sort());

export const factsStay: Invariant = {
  name: "facts stay",
  law: "What a record has once said (its claim's UID, its instance, that it has come up, that it shall go, and when at the latest) no later write takes back.",
  watch: ({ lab }, violated) => {
    const known = new Map<string, NodeClaimRecord>();
    return {
      onResult({ port, method }, result) {
        if (port !== "store" || (method !== "update" && method !== "create")) return;
        const record = result as NodeClaimRecord;
        const key = `${record.cluster}/${record.name}`;
        const before = known.get(key);
        known.set(key, record);
        if (before === undefined || before.intentId !== record.intentId || method === "create") return;
        // EC2 takes a machine back whose end a pause holds: its pods must go, for that reason.
        const isTaken =
          record.terminating?.reason === "spot_interrupted" && heldSince(lab, "disruption", lab.world.clock.now()) !== undefined;
        const lost = FACTS.filter((fact) => fact !== "terminating" || !isTaken).find(
          (fact) => before[fact] !== undefined && !isKept(fact, before, record),
        );
        if (lost !== undefined)
          violated(
            `record ${record.name} said ${lost} ${JSON.stringify(before[lost])}, a later write says ${JSON.stringify(record[lost])}`,
          );
      },
    };
  },
};

export const oneDecider: Invariant = {
  name: "one decider",
  law: "Intents and new commands are written only under the lease that was taken last: who has overslept writes nothing.",
  watch: ({ faults }, violated) => {
    /** The token that was taken last, by cluster. */
    const latest = new Map<string, number>();
    let lostAt = faults.tableLostAt();
    return {
      onResult({ port, method, args, invocation }, result) {
        if (port !== "store") return;
        // A new table counts its leases anew.
        if (faults.tableLostAt() !== lostAt) latest.clear();
        lostAt = faults.tableLostAt();
        if (method === "acquireLease" && result !== undefined) {
          const { cluster, token } = result as Lease;
          latest.set(cluster, Math.max(latest.get(cluster) ?? 0, token));
        }
        if (method !== "writeIntents" && method !== "createCommand") return;
        const { cluster, token } = args[0] as Lease;
        const last = latest.get(cluster) ?? 0;
        if (token < last) violated(`${invocation?.id} wrote under lease ${token}, while ${last} had been taken`);
      },
    };
  },
};
