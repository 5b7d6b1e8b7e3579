import { LruMap } from "../../core/lib/lru-map.ts";
import type { PublishedEvent } from "../../core/ports/kubernetes.ts";
import type { ClusterDeps } from "./cluster-deps.ts";

/** Equal events within this time are published once (Karpenter pkg/events/recorder.go, defaultDedupeTimeout). */
const DEFAULT_WINDOW_MS = 2 * 60_000;

/**
 * Until when (ms) an event need not be told again, as far as this process knows. The table decides; this spares asking it, at each pass and for
 * each node that stays, about what was asked a moment ago. By the facts of a cluster, which live as long as the process looks after it.
 */
const published = new WeakMap<object, LruMap<string, number>>();

/** Most events remembered at once for a cluster. */
const MAX_REMEMBERED_EVENTS = 20_000;

/** Publishes an event unless the same was told lately, by whichever invocation. */
export async function publishOnce(
  event: PublishedEvent,
  { cluster, kubernetes, store, now }: Pick<ClusterDeps, "cluster" | "kubernetes" | "store" | "now">,
  windowMs = DEFAULT_WINDOW_MS,
): Promise<void> {
  const { kind, metadata } = event.about;
  const key = `${kind}/${metadata.namespace ?? ""}/${metadata.name}/${metadata.uid ?? ""}/${event.reason}/${event.message}`;
  const known = published.get(cluster) ?? new LruMap<string, number>(MAX_REMEMBERED_EVENTS);
  published.set(cluster, known);
  const at = now();
  if ((known.get(key) ?? 0) > at) return;
  const isFirst = await store.isFirstWithin(cluster.name, key, at, windowMs);
  // When another has told it, nobody says when: part of the window is left, and it is soon asked again.
  known.set(key, at + (isFirst ? windowMs : windowMs / 4));
  if (isFirst) await kubernetes.publish(event);
}
