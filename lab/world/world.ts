// The simulated world of the lab: one cluster and one AWS account on a virtual clock.
// In: a seed, a start time, objects that a user applies. Out: the same sequence of events for the same seed.
// cluster.ts starts the controllers (actors/), cloud.ts the AWS account. No part may read real time or randomness, nor
// the decisions of the product: core's arithmetic is repeated here, so that one can be checked against the other.

import { ownValue } from "#core/lib/own-value.ts";
import type { PublishedEvent } from "#core/ports/kubernetes.ts";
import { type ApiObject, isNamespaced, KINDS } from "#manifests/api-object.ts";
import { type VirtualClock, virtualClock } from "./clock.ts";
import { type Random, seeded } from "./random.ts";
import { type Change, type MutableObject, type ObjectStore, objectStore } from "./store.ts";
import { FAST_TIMES, type WorldTimes } from "./times.ts";

/** An Event as `kubectl get events` would show it. */
interface RecordedEvent extends PublishedEvent {
  readonly at: number;
}

/** One event of the world, for the timeline. */
interface Note {
  readonly at: number;
  /** A few words: "launched nodeclaim". */
  readonly what: string;
  /** The name of its object. */
  readonly which: string;
  readonly why?: string;
}

/** What a world is made of. */
interface WorldOptions {
  readonly seed: number;
  /** Milliseconds since the epoch. */
  readonly start: number;
  readonly cluster?: string;
  readonly region?: string;
  /** The Kubernetes version, as "1.36". */
  readonly version?: string;
  /** The clock of another world in which this one lives, too; a clock of its own when absent. */
  readonly clock?: VirtualClock;
  /** How long the cloud and the kubelets take; FAST_TIMES when absent. */
  readonly times?: WorldTimes;
}

/**
 * One cluster with its clock and its source of random numbers. Nothing in it reads the clock of the machine or other
 * randomness.
 */
export interface LabWorld {
  readonly clock: VirtualClock;
  readonly random: Random;
  readonly store: ObjectStore;
  readonly cluster: string;
  readonly region: string;
  readonly version: string;
  readonly times: WorldTimes;
  readonly events: RecordedEvent[];
  readonly notes: Note[];
  /** As `kubectl apply`: creates the object, or replaces everything but its status. */
  apply(object: ApiObject): ApiObject;
  /** As `kubectl scale`. Throws Error with a sentence when the object does not exist. */
  scale(kind: string, namespace: string | undefined, name: string, replicas: number): void;
  /** As `kubectl delete`. False when the object does not exist. */
  delete(kind: string, name: string, namespace?: string): boolean;
  onChange(listener: (change: Change) => void): () => void;
  note(what: string, which: string, why?: string): void;
}

/** The user of the changes that `apply`, `scale` and `delete` make. */
export const USER = "kubernetes-admin";

export function createLabWorld(options: WorldOptions): LabWorld {
  const { seed, start, cluster = "lab", region = "us-west-2", version = "1.36", times = FAST_TIMES } = options;
  const { clock = virtualClock(start) } = options;
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
    times,
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
      // Metadata that others wrote (finalizers, annotations of controllers) stay, because apply only sets what the
      // manifest names.
      const { resourceVersion: _, uid: __, ...own } = placed.metadata;
      const merged = {
        ...found.metadata,
        ...own,
        labels: { ...found.metadata.labels, ...own.labels },
        annotations: { ...found.metadata.annotations, ...own.annotations },
      };
      return store.update(
        { ...placed, apiVersion: object.apiVersion ?? ownValue(KINDS, kind)?.apiVersion ?? "v1", metadata: merged },
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
