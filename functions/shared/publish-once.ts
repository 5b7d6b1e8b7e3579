import { contentHash } from "#core/lib/fnv.ts";
import type { PublishedEvent } from "#core/ports/kubernetes.ts";
import type { ClusterDeps } from "./cluster-deps.ts";

/** How long an equal event is not published again (karpenter: pkg/events/recorder.go, defaultDedupeTimeout). */
const DEFAULT_WINDOW_MS = 2 * 60_000;

/** Publishes an event unless any invocation has published an equal one within `windowMs`. */
export async function publishOnce(
  event: PublishedEvent,
  { cluster, kubernetes, store, memory, now }: Pick<ClusterDeps, "cluster" | "kubernetes" | "store" | "memory" | "now">,
  windowMs = DEFAULT_WINDOW_MS,
): Promise<void> {
  const { kind, metadata } = event.about;
  const about = `${kind}/${metadata.namespace ?? ""}/${metadata.name}/${metadata.uid ?? ""}/${event.reason}`;
  const key = `${about}/${event.message}`;
  const at = now();
  // The store decides. The memory saves a request for each node in each pass.
  if ((memory.recall("publishedEvents", at, { key }) ?? 0) > at) return;
  // A message may be longer than a key of DynamoDB, which takes 1,024 bytes.
  const storeKey = `${about}/${contentHash(event.message)}`;
  const isFirst = await store.isFirstWithin(cluster.name, storeKey, at, windowMs);
  // Another invocation published it at an unknown time in the window: ask the store again after a part of the window.
  memory.keep("publishedEvents", at + (isFirst ? windowMs : windowMs / 4), at, key);
  if (isFirst) await kubernetes.publish(event);
}
