import type { Node } from "#core/model/node.ts";
import type { Pod } from "#core/model/pod.ts";
import { PRODUCT } from "#lab/world/api-server.ts";
import { isActive, isDaemon, isUnplaceable, nameOf } from "./facts.ts";
import { CHECK_MS, type Invariant, type Scene, type Sight } from "./invariant.ts";
import { isOutOfLimits } from "./out-of-limits.ts";

const MINUTE_MS = 60_000;
/** How long a fault excuses who is late after it, ms: it may cost a message's time-out, a lease, a sweep. */
const AFTERMATH_MS = 4 * MINUTE_MS;
/** The same for a machine that never joins: it is given up after 15 minutes. */
const NEVER_JOINED_MS = 20 * MINUTE_MS;

/** Whether nothing has disturbed the product for a while: no fault, no lack of capacity, no change of a NodePool. */
export function isQuiet({ faults, lab, history }: Scene, { now, pools }: Sight): boolean {
  const disturbed = faults.hits.some(({ at, what }) => now - at < (what === "never joins" ? NEVER_JOINED_MS : AFTERMATH_MS));
  // A kubelet does not make its node anew: the machine never joins, and its pods wait for the registration time-out.
  const isLost = [...history.claims.values()].some(
    ({ nodeDeletedAt, registeredAt }) => nodeDeletedAt !== undefined && registeredAt === undefined && now - nodeDeletedAt < NEVER_JOINED_MS,
  );
  const isOut = lab.cloud.outages.some(({ until = now }) => now - until < AFTERMATH_MS);
  const isEdited = pools.some(({ metadata }) => isChanged(history.poolsWithin(metadata.name, now - AFTERMATH_MS, now)));
  return !disturbed && !isLost && !isOut && !isEdited;
}

const isChanged = (editions: readonly { readonly spec: object }[]): boolean =>
  new Set(editions.map(({ spec }) => JSON.stringify(spec))).size > 1;

export const isWaiting = (pod: Pod): boolean => isActive(pod) && !isDaemon(pod) && pod.spec.nodeName === undefined;

/** How long a pod waits when nothing goes wrong, ms: plan, launch, join, and one preemption or failed try. */
export const PLACED_WITHIN_MS = 5 * MINUTE_MS;

export const podsPlacedInTime: Invariant = {
  name: "pods are placed in time",
  law: "A pod that can run runs on a node within five minutes in which nothing goes wrong.",
  watch: (scene, violated) => {
    const waited = new Map<string, number>();
    return {
      check: (sight) => {
        const quiet = isQuiet(scene, sight);
        const waiting = sight.pods.filter(
          (pod) => isWaiting(pod) && !isUnplaceable(pod) && !isOutOfLimits(pod.spec.nodeSelector?.["karpenter.sh/nodepool"], sight),
        );
        const uids = new Set(waiting.map(({ metadata }) => metadata.uid ?? ""));
        for (const uid of waited.keys()) if (!uids.has(uid)) waited.delete(uid);
        for (const pod of waiting) {
          const ms = quiet ? (waited.get(pod.metadata.uid ?? "") ?? 0) + CHECK_MS : 0;
          waited.set(pod.metadata.uid ?? "", ms);
          if (ms > PLACED_WITHIN_MS) violated(`pod ${nameOf(pod)} has waited ${ms / 1_000} quiet seconds for a node`);
        }
      },
    };
  },
};

/** How long a pod may wait without a word, ms: when nothing goes wrong, and in any case. */
const TOLD_WITHIN_MS = 1.5 * MINUTE_MS;
/**
 * Two periods of eight minutes in which each call of a port fails, and six in which the account is full, may follow
 * each other, with kills between them.
 */
const TOLD_AT_LAST_MS = 33 * MINUTE_MS;
/** One plan speaks of so many pods only. */
const TOLD_AT_ONCE = 10;

export const waitersTold: Invariant = {
  name: "whoever waits is told",
  law: "A pod that waits for a node has an event of the product: where it shall run, or why it cannot.",
  watch: (scene, violated) => {
    const waited = new Map<string, number>();
    return {
      check: (sight) => {
        const quiet = isQuiet(scene, sight);
        const told = new Set(scene.lab.world.events.map(({ about }) => about.metadata.uid));
        const waiting = sight.pods.filter(isWaiting);
        if (waiting.length > TOLD_AT_ONCE) return;
        for (const pod of waiting.filter(({ metadata }) => !told.has(metadata.uid))) {
          const uid = pod.metadata.uid ?? "";
          const ms = quiet ? (waited.get(uid) ?? 0) + CHECK_MS : 0;
          waited.set(uid, ms);
          const age = sight.now - Date.parse(pod.metadata.creationTimestamp ?? "");
          if (ms > TOLD_WITHIN_MS || age > TOLD_AT_LAST_MS)
            violated(`pod ${nameOf(pod)} waits for ${Math.round(age / 1_000)} s, and no event says why`);
        }
      },
    };
  },
};

export const startupTaintsHonoured: Invariant = {
  name: "startup taints honoured",
  law: "The product takes no startup taint off a node, and calls no node initialized that has one.",
  watch: ({ history }, violated) => ({
    onChange: ({ kind, type, object, old, user }) => {
      if (kind !== "Node" || type !== "MODIFIED" || user !== PRODUCT) return;
      const own = new Set(history.claimOfNode(object.metadata.name)?.claim.spec.startupTaints?.map(({ key }) => key));
      const taintsOf = (node: object | undefined): readonly string[] =>
        (node as Node | undefined)?.spec.taints?.flatMap(({ key }) => (own.has(key) ? [key] : [])) ?? [];
      const [before, after] = [taintsOf(old), taintsOf(object)];
      const lost = before.find((key) => !after.includes(key));
      if (lost !== undefined) violated(`node ${object.metadata.name} has lost its startup taint ${lost}`);
      const isInitialized = (node: object | undefined): boolean =>
        (node as Node | undefined)?.metadata.labels?.["karpenter.sh/initialized"] === "true";
      if (isInitialized(object) && !isInitialized(old) && after.length > 0)
        violated(`node ${object.metadata.name} is called initialized with the startup taint ${after[0]}`);
    },
  }),
};
