import type { Pod } from "../model/pod.ts";
import { podUid } from "../pods/predicates.ts";

/** What a nomination can do for a pod that waits. */
export interface Waiting {
  readonly pod: Pod;
  /** False when kube-scheduler would not heed a nomination of the pod. */
  readonly isServed: boolean;
  /** Whether a node is on its way that the pod was planned for: one without may take any room. */
  readonly hasPlace: boolean;
}

/**
 * Which of these pods, all of which wait for nodes, must each be told its own node, so that all that have a place find
 * room.
 *
 * Pods that scheduling cannot tell apart may take each other's places: whichever of them comes first, as many of them
 * fit as were planned. So one kind of pods needs no nominations, if those of all other pods keep their rooms from it:
 * kube-scheduler keeps a nominated room from pods of the same or a lower priority. It is the largest kind of those with
 * the lowest priority. None is left out when pods are among them that no nomination can serve, or when a pod of another
 * kind has no place, because nothing would keep the kind's rooms from that one.
 */
export function needingNominations(waiting: readonly Waiting[]): ReadonlySet<Pod> {
  const all = new Set(waiting.map(({ pod }) => pod));
  if (!waiting.every(({ isServed }) => isServed)) return all;
  const lowest = waiting.reduce((least, { pod }) => Math.min(least, priorityOf(pod)), Number.POSITIVE_INFINITY);
  const homeless = new Set(waiting.filter(({ hasPlace }) => !hasPlace).map(({ pod }) => kindOf(pod)));
  if (homeless.size > 1) return all;
  const kinds = Map.groupBy(
    [...all].filter((pod) => priorityOf(pod) === lowest && !hasSeveralRules(pod)),
    kindOf,
  );
  const [only] = homeless;
  const [first, ...others] = only === undefined ? kinds.values() : [kinds.get(only) ?? []];
  if (first === undefined) return all;
  return all.difference(new Set(others.reduce((largest, kind) => (kind.length > largest.length ? kind : largest), first)));
}

const priorityOf = ({ spec }: Pod): number => spec.priority ?? 0;

/** With several rules of topology, an order of placing equal pods may end where the next one fits nowhere. */
function hasSeveralRules({ spec }: Pod): boolean {
  const spreads = (spec.topologySpreadConstraints ?? []).filter(({ whenUnsatisfiable }) => whenUnsatisfiable === "DoNotSchedule");
  const apart = spec.affinity?.podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? [];
  return spreads.length + apart.length > 1;
}

/** Equal texts only for pods that kube-scheduler cannot tell apart. A pod with volumes of its own is like no other. */
function kindOf(pod: Pod): string {
  const { metadata, spec } = pod;
  const { containers = [], initContainers = [], overhead, resources, resourceClaims, volumes = [] } = spec;
  const isUnique = (resourceClaims ?? []).length > 0 || volumes.some((volume) => volume?.persistentVolumeClaim ?? volume?.ephemeral);
  if (isUnique) return podUid(pod);
  const asked = [...containers, {}, ...initContainers].map((container) => {
    const { resources: of, ports, restartPolicy } = container as (typeof containers)[number];
    return [of, ports, restartPolicy];
  });
  const { nodeSelector, affinity, tolerations, topologySpreadConstraints } = spec;
  return JSON.stringify([
    ...[metadata.namespace, metadata.labels, asked, overhead, resources],
    ...[nodeSelector, affinity, tolerations, topologySpreadConstraints],
  ]);
}
