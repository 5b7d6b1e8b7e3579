import type { KubernetesObject } from "../../model/kubernetes.ts";
import type { EC2NodeClass } from "../../model/node-class.ts";
import type { Pod } from "../../model/pod.ts";
import { isDaemonSetPod, isMirror } from "../../pods/predicates.ts";
import { KEPT_FIELDS, keptFields, withoutUserData } from "../kept-fields.ts";

/** The kinds that are recorded, in the order in which they are read and applied. */
export const TRACED_KINDS = [
  ...(["Namespace", "StorageClass", "PersistentVolume", "PersistentVolumeClaim", "EC2NodeClass", "NodeOverlay", "NodePool"] as const),
  ...(["Node", "NodeClaim", "PodDisruptionBudget", "DaemonSet", "StatefulSet", "ReplicaSet", "Pod"] as const),
] as const;
export type TracedKind = (typeof TRACED_KINDS)[number];

/** What one look at a cluster found: the objects of each kind that could be read. */
export type Look = Readonly<Partial<Record<TracedKind, readonly KubernetesObject[]>>>;

/** The first line of a trace. */
export interface TraceHeader {
  /** The format of the file. A reader refuses a higher number. */
  readonly trace: 1;
  readonly cluster: string;
  readonly region: string;
  /** Time between two looks, ms. */
  readonly everyMs: number;
  /** What decides about the nodes of the cluster: "Karpenter", "karpenter-serverless", "Cluster Autoscaler". */
  readonly autoscaler: string;
  /** The kinds that the user may not read. */
  readonly unread: readonly TracedKind[];
}

/** What changed from one look to the next. */
export interface TraceEntry {
  /** ms since the epoch. */
  readonly at: number;
  /** Objects that are new or changed, by kind, with their recorded fields. */
  readonly put?: Look;
  /** The uids of objects that are gone. */
  readonly gone?: readonly string[];
}

/** What was recorded of a cluster. */
export interface Trace {
  readonly header: TraceHeader;
  /** In the order of time; there is at least one. */
  readonly entries: readonly TraceEntry[];
}

/** The recorded state of a cluster, by uid. */
export type TracedState = ReadonlyMap<string, { readonly kind: TracedKind; readonly object: KubernetesObject }>;

/** Writes a trace look by look: each entry has what has changed since the one before. */
export class TraceWriter {
  /** By uid. `given` is the object of the look before: the same one has not changed. */
  readonly #known = new Map<string, { readonly kind: TracedKind; readonly json: string; readonly given?: KubernetesObject }>();

  /** Continues from the state in which an earlier recording ended. */
  constructor(state: TracedState = new Map()) {
    for (const [uid, { kind, object }] of state) this.#known.set(uid, { kind, json: JSON.stringify(object) });
  }

  /** The entry of a look. A kind that is missing in the look has not changed. */
  entry(at: number, look: Look): TraceEntry {
    const put: Partial<Record<TracedKind, KubernetesObject[]>> = {};
    const seen = new Set<string>();
    for (const kind of TRACED_KINDS) {
      const objects = (look[kind] ?? []).filter((object) => isRecorded(kind, object));
      for (const object of objects) seen.add(uidOf(kind, object));
      const changed = objects.flatMap((object) => this.#changed(kind, object) ?? []);
      if (changed.length > 0) put[kind] = changed;
    }
    const gone = [...this.#known].filter(([uid, { kind }]) => look[kind] !== undefined && !seen.has(uid)).map(([uid]) => uid);
    for (const uid of gone) this.#known.delete(uid);
    return { at, ...(Object.keys(put).length > 0 && { put }), ...(gone.length > 0 && { gone }) };
  }

  /** What is recorded of an object; undefined when that is as it was. */
  #changed(kind: TracedKind, given: KubernetesObject): KubernetesObject | undefined {
    const uid = uidOf(kind, given);
    const known = this.#known.get(uid);
    if (known?.given === given) return undefined;
    const object = recorded(kind, given);
    const json = JSON.stringify(object);
    this.#known.set(uid, { kind, json, given });
    return known?.json === json ? undefined : object;
  }
}

/** Each entry of a trace with the state after it. The state is one map, which the next entry changes. */
export function* statesOf(entries: readonly TraceEntry[]): Generator<{ readonly entry: TraceEntry; readonly state: TracedState }> {
  const state = new Map<string, { readonly kind: TracedKind; readonly object: KubernetesObject }>();
  for (const entry of entries) {
    for (const [kind, objects] of Object.entries(entry.put ?? {}) as [TracedKind, readonly KubernetesObject[]][])
      for (const object of objects) state.set(uidOf(kind, object), { kind, object });
    for (const uid of entry.gone ?? []) state.delete(uid);
    yield { entry, state };
  }
}

/** The recorded objects of a kind. */
export const ofKind = (state: TracedState, wanted: TracedKind): readonly KubernetesObject[] =>
  [...state.values()].filter(({ kind }) => kind === wanted).map(({ object }) => object);

export const uidOf = (kind: string, { metadata: { uid, namespace = "", name } }: KubernetesObject): string =>
  uid ?? `${kind}/${namespace}/${name}`;

/** Pods of nodes (DaemonSets, static pods) follow the nodes, and old ReplicaSets ask for nothing. */
function isRecorded(kind: TracedKind, object: KubernetesObject): boolean {
  if (kind === "Pod") return !isDaemonSetPod(object as Pod) && !isMirror(object as Pod);
  return kind !== "ReplicaSet" || (object as { readonly spec?: { readonly replicas?: number } }).spec?.replicas !== 0;
}

/** The recorded fields of an object. */
export function recorded(kind: TracedKind, object: KubernetesObject): KubernetesObject {
  const kept = keptFields(
    kind === "EC2NodeClass" ? withoutUserData(object as EC2NodeClass) : object,
    KEPT_FIELDS[kind],
  ) as KubernetesObject & {
    status?: Record<string, unknown>;
  };
  const { status } = kept;
  if (status === undefined) return kept;
  // These change with each pod, and no figure needs them.
  const { lastPodEventTime: _, resources: __, nodes: ___, disruptionsAllowed: ____, ...used } = status;
  return { ...kept, status: used } as KubernetesObject;
}
