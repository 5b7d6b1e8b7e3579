import type { PublishedEvent } from "../../core/ports/kubernetes.ts";
import { type ApiObject, isNamespaced, KINDS } from "../../functions/adapters/manifests/api-object.ts";
import { type VirtualClock, virtualClock } from "./clock.ts";
import { type Random, seeded } from "./random.ts";
import { type Change, type MutableObject, type ObjectStore, objectStore } from "./store.ts";

/** An Event as `kubectl get events` would show it. */
export interface RecordedEvent extends PublishedEvent {
  readonly at: number;
}

/** One thing that happened, for the timeline. */
export interface Note {
  readonly at: number;
  /** A few words: "launched nodeclaim". */
  readonly what: string;
  /** The thing it happened to. */
  readonly which: string;
  readonly why?: string;
}

export interface WorldOptions {
  readonly seed: number;
  /** Milliseconds since the epoch. */
  readonly start: number;
  readonly cluster?: string;
  readonly region?: string;
  /** The Kubernetes version, as "1.36". */
  readonly version?: string;
}

/** One cluster, its clock and its chance. Nothing in it reads the machine's own clock or randomness. */
export interface LabWorld {
  readonly clock: VirtualClock;
  readonly random: Random;
  readonly store: ObjectStore;
  readonly cluster: string;
  readonly region: string;
  readonly version: string;
  readonly events: RecordedEvent[];
  readonly notes: Note[];
  /** As `kubectl apply`: makes the object, or replaces all but the status of the one that is there. */
  apply(object: ApiObject): ApiObject;
  /** As `kubectl scale`. Throws a sentence when there is no such thing. */
  scale(kind: string, namespace: string | undefined, name: string, replicas: number): void;
  /** As `kubectl delete`. False when it was not there. */
  delete(kind: string, name: string, namespace?: string): boolean;
  onChange(listener: (change: Change) => void): () => void;
  note(what: string, which: string, why?: string): void;
}

/** Who applies, scales and deletes in the changes that follow from `apply`, `scale` and `delete`. */
export const USER = "kubernetes-admin";

export function createLabWorld({ seed, start, cluster = "lab", region = "us-west-2", version = "1.36" }: WorldOptions): LabWorld {
  const clock = virtualClock(start);
  const random = seeded(seed);
  const store = objectStore(clock, random.fork("store"));
  const notes: Note[] = [];
  for (const name of ["default", "kube-system", "kube-node-lease", "kube-public"]) {
    store.create(
      { apiVersion: "v1", kind: "Namespace", metadata: { name, labels: { "kubernetes.io/metadata.name": name } } },
      { user: "system:apiserver" },
    );
  }
  return {
    clock,
    random,
    store,
    cluster,
    region,
    version,
    events: [],
    notes,
    apply(object) {
      const { kind = "", metadata } = object;
      const namespaced = isNamespaced({ kind, namespace: metadata.namespace });
      const { namespace: given, ...meta } = metadata;
      const namespace = namespaced ? (given ?? "default") : undefined;
      const placed: ApiObject = { ...object, metadata: { ...meta, ...(namespace !== undefined && { namespace }) } };
      if (namespace !== undefined && !store.get("Namespace", namespace)) {
        const labels = { "kubernetes.io/metadata.name": namespace };
        store.create({ apiVersion: "v1", kind: "Namespace", metadata: { name: namespace, labels } }, { user: USER });
      }
      const found = store.get(kind, metadata.name, namespace);
      if (!found) return store.create(placed, { user: USER });
      // Metadata that others wrote (finalizers, a controller's annotations) stays: apply only sets what the manifest names.
      const { resourceVersion: _, uid: __, ...own } = placed.metadata;
      const merged = {
        ...found.metadata,
        ...own,
        labels: { ...found.metadata.labels, ...own.labels },
        annotations: { ...found.metadata.annotations, ...own.annotations },
      };
      return store.update(
        { ...placed, apiVersion: object.apiVersion ?? KINDS[kind]?.apiVersion ?? "v1", metadata: merged },
        { user: USER },
      );
    },
    scale(kind, namespace, name, replicas) {
      const place = isNamespaced({ kind, namespace }) ? (namespace ?? "default") : undefined;
      const scaled = store.patch(kind, name, place, { user: USER }, (o: MutableObject) => ({
        ...o,
        spec: { ...o.spec, replicas },
      }));
      if (!scaled)
        throw new Error(`there is no ${kind} "${name}" in namespace "${namespace ?? "default"}" to scale; apply its manifest first`);
    },
    delete: (kind, name, namespace) => store.delete(kind, name, { namespace }, { user: USER }),
    onChange: (listener) => store.onChange(listener),
    note: (what, which, why) => {
      notes.push({ at: clock.now(), what, which, ...(why !== undefined && { why }) });
    },
  };
}
