import type { Pod, PodAffinityTerm } from "../model/pod.ts";

/**
 * The part of a pod that says what else must be known; a template of pods has it, too. It may hold nulls, which are
 * looked for later.
 */
type PodLike = Pick<Pod, "spec">;

/**
 * What a plan must know of a cluster because of its pods: where none of them has a volume or selects namespaces by
 * their labels, those objects decide nothing and need not be read.
 */
export interface ClusterNeeds {
  /** Claims, volumes, StorageClasses, and how many volumes each node may attach. */
  readonly volumes: boolean;
  /** The labels of namespaces. */
  readonly namespaces: boolean;
}

export function clusterNeeds(pods: readonly PodLike[]): ClusterNeeds {
  return { volumes: pods.some(hasVolumes), namespaces: pods.some(selectsNamespaces) };
}

function hasVolumes({ spec }: PodLike): boolean {
  return (spec.volumes ?? []).some((volume) => Boolean(volume?.persistentVolumeClaim ?? volume?.ephemeral));
}

function selectsNamespaces({ spec: { affinity } }: PodLike): boolean {
  return [affinity?.podAffinity, affinity?.podAntiAffinity].some((rules) => {
    const preferred = (rules?.preferredDuringSchedulingIgnoredDuringExecution ?? []).map((term) => term?.podAffinityTerm);
    const terms: readonly (PodAffinityTerm | undefined)[] = [
      ...(rules?.requiredDuringSchedulingIgnoredDuringExecution ?? []),
      ...preferred,
    ];
    return terms.some((term) => Boolean(term?.namespaceSelector));
  });
}
