import { contentHash } from "#core/lib/fnv.ts";
import { LruMap } from "#core/lib/lru-map.ts";
import type { PublishedEvent } from "#core/ports/kubernetes.ts";
import type { ClusterDeps } from "./cluster-deps.ts";

/** How long an equal event is not published again (karpenter: pkg/events/recorder.go, defaultDedupeTimeout). */
const DEFAULT_WINDOW_MS = 2 * 60_000;

/**
 * Until when (ms since the epoch) an event need not be published again, as far as this process knows. The store
 * decides; this map spares asking it, in each pass and for each node, about an event that was checked a moment ago. It
 * is keyed by the cluster's facts object, which lives as long as the process serves the cluster.
 */
const published = new WeakMap<object, LruMap<string, number>>();

/** How many events are remembered per cluster. */
const MAX_REMEMBERED_EVENTS = 20_000;

/** Publishes an event unless any invocation has published an equal one within `windowMs`. */
export async function publishOnce(
  event: PublishedEvent,
  { cluster, kubernetes, store, now }: Pick<ClusterDeps, "cluster" | "kubernetes" | "store" | "now">,
  windowMs = DEFAULT_WINDOW_MS,
): Promise<void> {
  const { kind, metadata } = event.about;
  const about = `${kind}/${metadata.namespace ?? ""}/${metadata.name}/${metadata.uid ?? ""}/${event.reason}`;
  const key = `${about}/${event.message}`;
  const known = published.get(cluster) ?? new LruMap<string, number>(MAX_REMEMBERED_EVENTS);
  published.set(cluster, known);
  const at = now();
  if ((known.get(key) ?? 0) > at) return;
  // A message may be longer than a key of DynamoDB, which takes 1,024 bytes.
  const told = `${about}/${contentHash(event.message)}`;
  const isFirst = await store.isFirstWithin(cluster.name, told, at, windowMs);
  // Another invocation published it at an unknown time in the window: ask the store again after a part of the window.
  known.set(key, at + (isFirst ? windowMs : windowMs / 4));
  if (isFirst) await kubernetes.publish(event);
}
