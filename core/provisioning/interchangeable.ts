import type { Pod } from "../model/pod.ts";
import { podUid } from "../pods/predicates.ts";

/** What a nomination can do for a pod that waits. */
interface Waiting {
  readonly pod: Pod;
  /** False when kube-scheduler would not heed a nomination of the pod. */
  readonly isServed: boolean;
}

/**
 * Which of these pods, all of which wait for nodes, must each be nominated to its own node, so that all that have a
 * place find room: none or all.
 *
 * Pods that scheduling cannot distinguish may take each other's places: whichever of them comes first, as many of them
 * fit as were planned. So pods of one kind need no nominations. Of several kinds each pod does, because kube-scheduler
 * clears the nomination of a pod that it tries while the pod's node is not open yet. Until the pod is tried again,
 * nothing keeps its room from a pod without a nomination, and a pod that has one goes to its own node.
 */
export function needingNominations(waiting: readonly Waiting[]): ReadonlySet<Pod> {
  const kinds = new Set(waiting.map(({ pod }) => kindOf(pod)));
  const areAlike = kinds.size < 2 && waiting.every(({ pod, isServed }) => isServed && !hasSeveralRules(pod));
  return new Set(areAlike ? [] : waiting.map(({ pod }) => pod));
}

/** With several rules of topology, an order of placing equal pods may end where the next one fits nowhere. */
function hasSeveralRules({ spec }: Pod): boolean {
  const spreads = (spec.topologySpreadConstraints ?? []).filter(({ whenUnsatisfiable }) => whenUnsatisfiable === "DoNotSchedule");
  const apart = spec.affinity?.podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? [];
  return spreads.length + apart.length > 1;
}

/** Equal texts only for pods that kube-scheduler cannot distinguish. A pod with volumes of its own is like no other. */
function kindOf(pod: Pod): string {
  const { metadata, spec } = pod;
  const { containers = [], initContainers = [], overhead, resources, resourceClaims, volumes = [] } = spec;
  const isUnique = (resourceClaims ?? []).length > 0 || volumes.some((volume) => volume?.persistentVolumeClaim ?? volume?.ephemeral);
  if (isUnique) return podUid(pod);
  const asked = [...containers, {}, ...initContainers].map((container) => {
    const { resources: of, ports, restartPolicy } = container as (typeof containers)[number];
    return [of, ports, restartPolicy];
  });
  const { nodeSelector, affinity, tolerations, topologySpreadConstraints, priority = 0 } = spec;
  return JSON.stringify([
    ...[metadata.namespace, metadata.labels, priority, asked, overhead, resources],
    ...[nodeSelector, affinity, tolerations, topologySpreadConstraints],
  ]);
}
