import type { NodeClaim } from "#core/model/node-claim.ts";
import type { Pod } from "#core/model/pod.ts";
import { NEIGHBOUR } from "../neighbour.ts";
import { CLAIM_UID, CLUSTER, instanceIdOf, nameOf } from "./facts.ts";
import { CHECK_MS, type Invariant } from "./invariant.ts";
import { isQuiet, isWaiting, PLACED_WITHIN_MS } from "./waiting.ts";

export const neighbourLeftAlone: Invariant = {
  name: "neighbours left alone",
  law: "The record of a NodeClaim whose cluster does not answer stays, and no call for its machine is made.",
  watch: ({ lab, table, faults }, violated) => {
    let known = false;
    return {
      check: () => {
        void table.list(NEIGHBOUR).then((records) => {
          if (known && records.length === 0 && faults.tableLostAt() === Number.NEGATIVE_INFINITY)
            violated("the record of the neighbour's NodeClaim has gone");
          known ||= records.length > 0;
        });
      },
      onCall: ({ port, method, args }) => {
        if (port !== "fleet" || (method !== "terminate" && method !== "launch")) return;
        const [what] = args as [string | { readonly tags: Readonly<Record<string, string>> }];
        const isTheirs = typeof what === "string" && !lab.cloud.machines().some(({ instance }) => instance.id === what);
        if (isTheirs) violated(`${method} of ${what}, which is no machine of the cluster`);
      },
    };
  },
};

export const secondServed: Invariant = {
  name: "clusters do not feel each other",
  law: "In a second cluster of the stack pods run within five quiet minutes, and no machine ends whose NodeClaim stays.",
  watch: (scene, violated) => {
    const { lab } = scene;
    const waited = new Map<string, number>();
    const claims = () => (lab.second?.store.list("NodeClaim") ?? []) as unknown as readonly NodeClaim[];
    return {
      check: (sight) => {
        const pods = (lab.second?.store.list("Pod") ?? []) as unknown as readonly Pod[];
        const quiet = isQuiet(scene, sight);
        for (const pod of pods) {
          const uid = pod.metadata.uid ?? "";
          const ms = quiet && isWaiting(pod) ? (waited.get(uid) ?? 0) + CHECK_MS : 0;
          waited.set(uid, ms);
          if (ms > PLACED_WITHIN_MS) violated(`pod ${nameOf(pod)} of the second cluster has waited ${ms / 1_000} quiet seconds for a node`);
        }
      },
      onCall: ({ port, method, args }) => {
        if (port !== "fleet" || method !== "terminate" || lab.second === undefined) return;
        const machine = lab.cloud.machines().find(({ instance }) => instance.id === args[0]);
        if (machine?.instance.tags[CLUSTER] !== lab.second.cluster) return;
        const claim = claims().find(
          ({ metadata, status }) =>
            metadata.uid === machine.instance.tags[CLAIM_UID] || instanceIdOf(status?.providerID) === machine.instance.id,
        );
        const own = instanceIdOf(claim?.status?.providerID);
        if (claim !== undefined && claim.metadata.deletionTimestamp === undefined && own === machine.instance.id)
          violated(`${machine.instance.id} was terminated although claim ${claim.metadata.name} of the second cluster stays`);
      },
    };
  },
};
