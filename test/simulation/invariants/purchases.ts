import type { NodeClaim } from "#core/model/node-claim.ts";
import type { Pod } from "#core/model/pod.ts";
import { PRODUCT } from "#lab/world/api-server.ts";
import { isGoing } from "./causes.ts";
import { CLAIM_UID, cpuOf, isDaemon, vcpus } from "./facts.ts";
import type { ClaimLife, History, PodLife } from "./history.ts";
import type { Invariant, Scene } from "./invariant.ts";
import { reservedRoom } from "./room.ts";
import { isSurplus } from "./static-pools.ts";

const requestOf = ({ spec }: Pod): number => cpuOf(spec.containers);

/** Pods may have waited so long before the NodeClaim that was planned for them, ms: a plan takes retries and leases. */
const BEFORE_MS = 2 * 60_000;
/** How long after its node is initialized the pods of a NodeClaim may still be unbound, ms. */
const BINDING_MS = 10_000;

/**
 * NodeClaims that were planned for pods, not to replace others, and whose node no pod has taken yet. kube-scheduler may
 * fill a node with pods of another NodeClaim, and then no sum tells what is left of it.
 */
function comingUp({ history }: Scene, now: number): readonly ClaimLife[] {
  const isTaken = ({ nodeName }: ClaimLife): boolean => nodeName !== undefined && history.podsOn(nodeName, now).length > 0;
  return [...history.claims.values()].filter(
    (life) =>
      !life.byUser &&
      !history.isReplacement(life.name) &&
      (life.initializedAt ?? now) > now - BINDING_MS &&
      !isTaken(life) &&
      !isGoing(life, now, history) &&
      life.pool !== "",
  );
}

/**
 * The pods that have waited for room at some time since `from`: unbound, or on a node that was going. A StatefulSet
 * makes its next pod only when the last one is gone, so one that is asked to go, and stays on a dead machine, counts.
 */
function waitedSince(from: number, now: number, { history, lab }: Pick<Scene, "history" | "lab">): readonly PodLife[] {
  const lingers = ({ metadata }: Pod): boolean =>
    metadata.ownerReferences?.some(({ kind }) => kind === "StatefulSet") === true &&
    lab.world.store.get("Pod", metadata.name, metadata.namespace)?.metadata.uid === metadata.uid;
  return [...history.pods.values()].filter((life) => {
    const { pod, boundAt = now, endedAt = now } = life;
    if (isDaemon(pod) || (endedAt < from && !lingers(pod))) return false;
    return boundAt >= from || isHomeless(life, from, now, history);
  });
}

/** Whether the pod is on a node that is going, or was going at some time since `from`. */
function isHomeless({ nodeName }: PodLife, from: number, now: number, history: History): boolean {
  if (nodeName === undefined) return false;
  const life = history.claimOfNode(nodeName);
  if (life === undefined) return true;
  // A node too many of a static NodePool is meant to go before its NodeClaim is deleted.
  if (isSurplus(life, now, history)) return true;
  return isGoing(life, now, history) || life.taintedAt !== undefined || (life.untaintedAt ?? 0) >= from;
}

/**
 * How often a buffer may ask for its whole room: anew when pods are planned after the NodeClaim that has its room was,
 * because they have come since, or because EC2 had no machine for their own NodeClaim, or somebody deleted it. They may
 * take the room that the buffer was to have there, and with their memory more of it than their vCPUs tell.
 */
function timesPlanned(waiting: readonly PodLife[], coming: readonly ClaimLife[], history: History): number {
  const firstPlan = Math.min(...coming.map(({ plannedAt }) => plannedAt));
  const hasCome = waiting.some(({ addedAt, boundAt }) => addedAt > firstPlan || (boundAt !== undefined && boundAt > firstPlan));
  const hasFailed = [...history.claims.values()].some(
    ({ refusedAt = 0, deletedAt = 0, deletedBy = PRODUCT }) => refusedAt >= firstPlan || (deletedAt >= firstPlan && deletedBy !== PRODUCT),
  );
  return hasCome || hasFailed ? 2 : 1;
}

/**
 * How often room may be asked for a pod: again when it was bound since `from` and its node goes, if its volume is in
 * the zone of that node since then. The room that was planned for it before may be in another zone.
 */
function timesPlaced(life: PodLife, from: number, now: number, history: History): number {
  const { pod, boundAt = 0 } = life;
  const hasVolume = pod.spec.volumes?.some(({ persistentVolumeClaim }) => persistentVolumeClaim !== undefined) === true;
  return hasVolume && boundAt >= from && isHomeless(life, from, now, history) ? 2 : 1;
}

/** NodeClaims on their way that ask for more vCPUs than the pods that wait need. */
interface Suspicion {
  readonly asking: readonly { readonly uid: string; readonly cpu: number }[];
  readonly needed: number;
  /** The name of the NodeClaim that came last. */
  readonly last: string;
}

export const boughtOnce: Invariant = {
  name: "bought once",
  law: "The machines of NodeClaims of the planner that are on their way together have never more room than buffers and the pods need that have waited since the first of them was planned.",
  watch: (scene, violated) => {
    const { lab, history } = scene;
    let buffered = 0;
    // NodeClaims that ask for too much together. One may end because EC2 has no machine for it.
    const suspicions: Suspicion[] = [];
    const launched = new Set<string>();
    const has = (claimUid: string): void => {
      launched.add(claimUid);
      for (const { asking, needed, last } of suspicions) {
        const bought = asking.reduce((sum, { uid, cpu }) => sum + (launched.has(uid) ? cpu : 0), 0);
        if (bought > needed + 1e-6)
          violated(`with ${last} machines are bought for ${bought.toFixed(2)} vCPUs, but pods that wait need ${needed.toFixed(2)}`);
      }
    };
    return {
      onLaunch: ({ instance }) => has(instance.tags[CLAIM_UID] ?? ""),
      onChange: ({ kind, type, user, object }) => {
        // Whose machine it is of those that were launched together, the NodeClaim says.
        const claim = object as unknown as NodeClaim;
        if (kind === "NodeClaim" && claim.status?.providerID !== undefined && !launched.has(claim.metadata.uid ?? ""))
          has(claim.metadata.uid ?? "");
        if (kind === "CapacityBuffer") buffered = Math.max(buffered, reservedRoom(lab));
        if (kind !== "NodeClaim" || type !== "ADDED" || user !== PRODUCT) return;
        const now = lab.world.clock.now();
        const coming = comingUp(scene, now);
        const from = Math.min(...coming.map(({ plannedAt }) => plannedAt)) - BEFORE_MS - history.skewMs;
        const daemons = lab.world.store
          .list("DaemonSet")
          .reduce((sum, { spec }) => sum + requestOf((spec as { readonly template: Pod }).template), 0);
        const asking = coming.map(({ uid, claim }) => ({
          uid,
          cpu: Math.max(0, vcpus(claim.spec.resources?.requests?.["cpu"]) - daemons),
        }));
        const waiting = waitedSince(from, now, scene);
        const needed = waiting.reduce(
          (sum, life) => sum + requestOf(life.pod) * timesPlaced(life, from, now, history),
          buffered * timesPlanned(waiting, coming, history),
        );
        if (asking.reduce((sum, { cpu }) => sum + cpu, 0) > needed + 1e-6) suspicions.push({ asking, needed, last: object.metadata.name });
      },
    };
  },
};
