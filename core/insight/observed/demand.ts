import { fromRfc3339 } from "../../model/conditions.ts";
import type { KubernetesObject } from "../../model/kubernetes.ts";
import type { Pod, PodSpec, PodTemplate } from "../../model/pod.ts";
import type { Workload } from "../../model/workloads.ts";
import { groupOf } from "./owners.ts";
import { controllerOf, type Run, Runs } from "./runs.ts";
import { ofKind, statesOf, type Trace, type TracedKind, type TracedState, type TraceEntry, uidOf } from "./trace.ts";

/** A change of what a cluster's users ask for. */
export interface DemandChange {
  /** ms since the epoch. */
  readonly at: number;
  /** As `kubectl apply`; the object has its kind. */
  readonly apply?: KubernetesObject;
  readonly remove?: { readonly kind: string; readonly name: string; readonly namespace: string | undefined };
  /** A pod that is there for a time, or until its work is done. */
  readonly run?: PodRun;
}

interface PodRun {
  readonly name: string;
  readonly namespace: string;
  readonly template: PodTemplate;
  /** How long it runs, s; undefined when it runs until it is removed. */
  readonly seconds: number | undefined;
}

/**
 * What a cluster's users asked for, in the order of time. Replicas of ReplicaSets and StatefulSets change as their
 * owners wrote it; other pods are runs. What the autoscaler of the trace did (its nodes, evictions, replacements) is no
 * part of it.
 */
export function demandOf({ header, entries }: Trace): readonly DemandChange[] {
  const reader = new DemandReader(header.autoscaler);
  let before: number | undefined;
  for (const { entry, state } of statesOf(entries)) {
    reader.take(entry, state, before);
    before = entry.at;
  }
  return reader.changes();
}

class DemandReader {
  readonly #autoscaler: string;
  readonly #changes: DemandChange[] = [];
  readonly #runs = new Runs();
  readonly #workloads = new Workloads();
  /** The objects of the entries so far, by uid. */
  readonly #known = new Map<string, { readonly kind: TracedKind; readonly object: KubernetesObject }>();

  constructor(autoscaler: string) {
    this.#autoscaler = autoscaler;
  }

  /** @param before when the entry before was recorded, ms; undefined for the first */
  take({ at, put = {}, gone = [] }: TraceEntry, state: TracedState, before: number | undefined): void {
    const isFirst = before === undefined;
    const sets = [...(put.StatefulSet ?? []), ...(put.ReplicaSet ?? [])];
    const changes = [
      ...DEFINITIONS.flatMap((kind) => (put[kind] ?? []).flatMap((object) => definition(kind, object, at, isFirst))),
      ...(put.Node ?? []).filter((node) => this.#isNewOther(node)).map((node) => ({ at, apply: { ...node, kind: "Node" } })),
      ...this.#workloads.changes(state, sets, put.Pod ?? [], { before: before ?? at, at, isFirst }),
    ];
    const others = ((put.Pod ?? []) as readonly Pod[]).filter((pod) => !this.#workloads.has(controllerOf(pod)?.uid));
    for (const pod of others) this.#runs.seen(pod, at, isFirst);
    this.#changes.push(...changes, ...gone.flatMap((uid) => this.#gone(uid, at)));
    for (const [kind, objects] of Object.entries(put) as [TracedKind, readonly KubernetesObject[]][])
      for (const object of objects) this.#known.set(uidOf(kind, object), { kind, object });
  }

  changes(): readonly DemandChange[] {
    // A sort that keeps the order of equal times: what an object needs was applied before it.
    return [...this.#changes, ...this.#runs.all().flatMap(runChanges)].sort((a, b) => a.at - b.at);
  }

  #isNewOther(node: KubernetesObject): boolean {
    return groupOf(node, this.#autoscaler) === undefined && !this.#known.has(uidOf("Node", node));
  }

  #gone(uid: string, at: number): readonly DemandChange[] {
    const known = this.#known.get(uid);
    this.#known.delete(uid);
    this.#workloads.gone(uid);
    if (known === undefined || known.kind === "NodeClaim") return [];
    if (known.kind === "Pod") this.#runs.gone(known.object as Pod, at);
    if (known.kind === "Pod" || (known.kind === "Node" && groupOf(known.object, this.#autoscaler) !== undefined)) return [];
    const { name, namespace } = known.object.metadata;
    return [{ at, remove: { kind: known.kind, name, namespace } }];
  }
}

/** Kinds that the users of a cluster write and that are applied as they are. */
const DEFINITIONS = [
  ...(["Namespace", "StorageClass", "PersistentVolume", "PersistentVolumeClaim", "EC2NodeClass", "NodeOverlay", "NodePool"] as const),
  ...(["PodDisruptionBudget", "DaemonSet"] as const),
] as const;

function definition(kind: (typeof DEFINITIONS)[number], object: KubernetesObject, at: number, isFirst: boolean): readonly DemandChange[] {
  const own = { ...object, kind };
  // Volumes that are made later are made in the zone of a node, which is another one in a replay.
  if (kind === "PersistentVolume") return isFirst ? [{ at, apply: own }] : [];
  if (kind === "PersistentVolumeClaim") return isFirst ? [{ at, apply: own }] : [{ at, apply: unbound(own) }];
  if (kind !== "NodePool" && kind !== "EC2NodeClass") return [{ at, apply: withoutStatus(own) }];
  return [{ at, apply: withoutHashes(withoutStatus(own)) }];
}

const withoutStatus = (object: KubernetesObject): KubernetesObject => {
  const { status: _, ...rest } = object as KubernetesObject & { readonly status?: unknown };
  return rest;
};

function unbound(claim: KubernetesObject): KubernetesObject {
  const { volumeName: _, ...spec } = ((claim as { readonly spec?: object }).spec ?? {}) as Readonly<Record<string, unknown>>;
  return { ...withoutStatus(claim), spec } as KubernetesObject;
}

/** The hashes of the controller of the trace say nothing to another one. */
function withoutHashes(object: KubernetesObject): KubernetesObject {
  const { annotations = {} } = object.metadata;
  const own = Object.fromEntries(Object.entries(annotations).filter(([key]) => !/-hash(-version)?$/.test(key)));
  return { ...object, metadata: { ...object.metadata, annotations: own } };
}

/** What the owners of ReplicaSets and StatefulSets ask for. */
class Workloads {
  /** Replicas as they were written last, by uid. */
  readonly #replicas = new Map<string, number>();
  /** Kept when the workload is gone, because its last pods end after it. */
  readonly #templates = new Map<string, PodTemplate>();

  /** Whether the uid is, or was, that of a workload. */
  has(uid: string | undefined): boolean {
    return uid !== undefined && this.#templates.has(uid);
  }

  gone(uid: string): void {
    this.#replicas.delete(uid);
  }

  changes(
    state: TracedState,
    put: readonly KubernetesObject[],
    pods: readonly KubernetesObject[],
    { before, at, isFirst }: { readonly before: number; readonly at: number; readonly isFirst: boolean },
  ): readonly DemandChange[] {
    if (put.length === 0) return [];
    const made = Map.groupBy(pods as readonly Pod[], (pod) => controllerOf(pod)?.uid ?? "");
    return (put as readonly Workload[]).flatMap((workload): readonly DemandChange[] => {
      const { uid = "" } = workload.metadata;
      const kind = state.get(uid)?.kind ?? "ReplicaSet";
      const { replicas = 1 } = workload.spec;
      const known = this.#replicas.get(uid);
      this.#replicas.set(uid, replicas);
      if (known === replicas) return [];
      const own = made.get(uid) ?? [];
      const template = this.#templates.get(uid) ?? templateOf(workload, own[0] ?? podOf(state, uid));
      this.#templates.set(uid, template);
      const apply = { ...withoutStatus(workload), kind, spec: { ...workload.spec, replicas, template } } as KubernetesObject;
      return [{ at: isFirst ? at : askedAt([workload, ...own], before, at), apply: withoutOwner(apply) }];
    });
  }
}

/** When a change was asked for that a look at `at` found: the first object that was made for it shows it. */
function askedAt(made: readonly KubernetesObject[], before: number, at: number): number {
  const times = made.map(({ metadata }) => fromRfc3339(metadata.creationTimestamp)).filter((time) => time >= before && time <= at);
  return times.length === 0 ? at : Math.min(...times);
}

const podOf = (state: TracedState, owner: string): Pod | undefined =>
  (ofKind(state, "Pod") as readonly Pod[]).find((pod) => controllerOf(pod)?.uid === owner);

function withoutOwner(object: KubernetesObject): KubernetesObject {
  const { ownerReferences: _, annotations: __, ...metadata } = object.metadata;
  return { ...object, metadata };
}

/** The template as admission leaves its pods: a pod shows defaults and injected containers that the template lacks. */
function templateOf({ metadata, spec }: Workload, pod: Pod | undefined): PodTemplate {
  if (pod === undefined) return { ...spec.template, spec: schedulingSpec(spec.template.spec) };
  const claims = (spec as { readonly volumeClaimTemplates?: readonly KubernetesObject[] }).volumeClaimTemplates ?? [];
  const isOwn = (claim: string): boolean => claims.some((one) => claim.startsWith(`${one.metadata.name}-${metadata.name}-`));
  const volumes = pod.spec.volumes?.filter(({ persistentVolumeClaim: claim }) => claim === undefined || !isOwn(claim.claimName));
  return templateFrom({ ...pod, spec: { ...pod.spec, ...(volumes && { volumes }) } });
}

function templateFrom({ metadata, spec }: Pod): PodTemplate {
  const { "statefulset.kubernetes.io/pod-name": _, "apps.kubernetes.io/pod-index": __, ...labels } = metadata.labels ?? {};
  const { annotations } = metadata;
  return { metadata: { labels, ...(annotations && { annotations }) }, spec: schedulingSpec(spec) };
}

/** The priority stays as a number, because PriorityClasses are not recorded. */
function schedulingSpec(spec: PodSpec): PodSpec {
  const { nodeName: _, priorityClassName: __, ...rest } = spec;
  return rest;
}

function runChanges({ pod, from, to, seconds }: Run): readonly DemandChange[] {
  const { name, namespace = "default" } = pod.metadata;
  const run: DemandChange = { at: from, run: { name, namespace, template: templateFrom(pod), seconds } };
  return to === undefined || seconds !== undefined ? [run] : [run, { at: to, remove: { kind: "ReplicaSet", name, namespace } }];
}
