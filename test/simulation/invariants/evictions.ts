import type { Pod } from "#core/model/pod.ts";
import { PRODUCT } from "#lab/world/api-server.ts";
import { isSick } from "./causes.ts";
import { claimOfNode, deadlineOf, instanceIdOf, is, isActive, isDisrupted, isHeld, isOrdinary, nameOf, nodeOf } from "./facts.ts";
import type { Invariant, Scene } from "./invariant.ts";

/** A running pod that the product deletes, by the eviction API, which respects PodDisruptionBudgets, or directly. */
function ofProduct(
  { lab }: Scene,
  published: (pod: Pod, how: "evicted" | "deleted") => void,
): (change: { kind: string; user: string; verb: string; subresource?: string | undefined; object: object; old?: object }) => void {
  return ({ kind, user, verb, subresource, object, old }) => {
    if (kind !== "Pod" || user !== PRODUCT || verb !== "delete") return;
    const pod = (old ?? object) as Pod;
    if (nodeOf(pod, lab) !== undefined) published(pod, subresource === "eviction" ? "evicted" : "deleted");
  };
}

/** Whether the node's deadline is so near that a protected pod may be deleted, or its machine is or was broken. */
function isForced(pod: Pod, { lab, history }: Scene): boolean {
  const life = history.claimOfNode(pod.spec.nodeName ?? "");
  const now = lab.world.clock.now();
  // A node that goes by force goes on when its hardware works again.
  if (life !== undefined && [life.sick, life.sickBefore].some((sick) => isSick({ ...life, sick }, now, history))) return true;
  const deadline = deadlineOf(claimOfNode(nodeOf(pod, lab), lab));
  const grace = (pod.spec.terminationGracePeriodSeconds ?? 30) * 1_000;
  return deadline !== undefined && now >= deadline - grace - history.skewMs;
}

export const budgetsAsked: Invariant = {
  name: "disruption budgets asked",
  law: "Pods leave by the eviction API, which asks their PodDisruptionBudgets, and are deleted past it only when their node's deadline is near.",
  watch: (scene, violated) => ({
    onChange: ofProduct(scene, (pod, how) => {
      if (how === "deleted" && !isForced(pod, scene)) violated(`pod ${nameOf(pod)} was deleted, not evicted, long before its node must go`);
    }),
  }),
};

export const heldPodsStay: Invariant = {
  name: "held pods stay",
  law: "A pod that do-not-disrupt protects when it is read is not made to go, unless its node's terminationGracePeriod ends.",
  watch: (scene, violated) => ({
    onChange: ofProduct(scene, (pod) => {
      const { history, lab } = scene;
      const now = lab.world.clock.now();
      // A function may be held up between its reading and the eviction, and the API server compares no annotations.
      const isNew = (history.pods.get(pod.metadata.uid ?? "")?.holdChangedAt ?? 0) > (history.readAt("Pod") ?? now);
      if (isActive(pod) && isHeld(pod, now + history.skewMs) && !isNew && !isForced(pod, scene))
        violated(`pod ${nameOf(pod)} was made to go although do-not-disrupt protects it`);
    }),
  }),
};

export const taintedFirst: Invariant = {
  name: "tainted first",
  law: "Pods are evicted only from nodes that take no new ones and whose claim is going.",
  watch: (scene, violated) => ({
    onChange: ofProduct(scene, (pod) => {
      const node = nodeOf(pod, scene.lab);
      const claim = claimOfNode(node, scene.lab);
      if (node && !isDisrupted(node)) violated(`pod ${nameOf(pod)} was evicted from node ${node.metadata.name}, which is not tainted`);
      else if (claim && claim.metadata.deletionTimestamp === undefined)
        violated(`pod ${nameOf(pod)} was evicted although claim ${claim.metadata.name} stays`);
    }),
  }),
};

/** A pod this long after the end of its grace period is stuck: a drain no longer waits for it. */
const STUCK_MS = 60_000;

export const drainedFirst: Invariant = {
  name: "drained first",
  law: "A machine is terminated only when no pod that a drain has to wait for runs on it, or its deadline has passed.",
  watch: ({ lab, history }, violated) => ({
    onCall: ({ port, method, args }) => {
      if (port !== "fleet" || method !== "terminate") return;
      const [id] = args as [string];
      const now = lab.world.clock.now();
      const life = history.claimOfInstance(id);
      if (life !== undefined && isSick(life, now, history)) return;
      const node = lab.world.store
        .list("Node")
        .find((one) => isOrdinary(one) && instanceIdOf((one.spec as { providerID?: string }).providerID) === id);
      const deadline = deadlineOf(claimOfNode(node as never, lab));
      if (node === undefined || !is(node as never, "Ready") || (deadline !== undefined && now >= deadline - history.skewMs)) return;
      const pods = lab.world.store.list("Pod") as unknown as readonly Pod[];
      const left = pods.find(
        ({ metadata, spec, status }) =>
          spec.nodeName === node.metadata.name &&
          status?.phase === "Running" &&
          !spec.tolerations?.some(({ key, operator }) => key === undefined && operator === "Exists") &&
          !(metadata.deletionTimestamp !== undefined && now > Date.parse(metadata.deletionTimestamp) + STUCK_MS - history.skewMs),
      );
      if (left) violated(`${id} was terminated while pod ${nameOf(left)} runs on it`);
    },
  }),
};
