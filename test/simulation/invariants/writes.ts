import type { Lease } from "../../../core/model/lease.ts";
import type { NodeClaimRecord } from "../../../core/model/node-claim-record.ts";
import type { Invariant } from "./invariant.ts";

/** Fields that a record gains once and keeps until its end. */
const FACTS = ["uid", "instance", "terminating", "initializedAt"] as const;

/** Whether a later write keeps a fact. An end may be hastened: its deadline may come, or come sooner. */
function isKept(fact: (typeof FACTS)[number], before: NodeClaimRecord, after: NodeClaimRecord): boolean {
  if (fact !== "terminating") return JSON.stringify(after[fact]) === JSON.stringify(before[fact]);
  const { deadline = Number.POSITIVE_INFINITY, ...said } = before.terminating ?? {};
  const { deadline: later = Number.POSITIVE_INFINITY, ...says } = after.terminating ?? {};
  return JSON.stringify(says) === JSON.stringify(said) && later <= deadline;
}

export const factsStay: Invariant = {
  name: "facts stay",
  law: "What a record has once said (its claim's UID, its instance, that it has come up, that it shall go, and when at the latest) no later write takes back.",
  watch: (_scene, violated) => {
    const known = new Map<string, NodeClaimRecord>();
    return {
      onResult({ port, method }, result) {
        if (port !== "store" || (method !== "update" && method !== "create")) return;
        const record = result as NodeClaimRecord;
        const before = known.get(record.name);
        known.set(record.name, record);
        if (before === undefined || before.intentId !== record.intentId || method === "create") return;
        const lost = FACTS.find((fact) => before[fact] !== undefined && !isKept(fact, before, record));
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
  watch: (_scene, violated) => {
    let latest = 0;
    return {
      onResult({ port, method, args, invocation }, result) {
        if (port !== "store") return;
        if (method === "acquireLease") latest = Math.max(latest, (result as Lease | undefined)?.token ?? 0);
        if (method !== "writeIntents" && method !== "createCommand") return;
        const { token } = args[0] as Lease;
        if (token < latest) violated(`${invocation?.id} wrote under lease ${token}, while ${latest} had been taken`);
      },
    };
  },
};
