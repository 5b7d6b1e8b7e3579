import type { PublishedEvent } from "../core/ports/kubernetes.ts";
import type { ClusterDeps } from "./cluster-deps.ts";

/** Equal events within this time are told once (metrics-events.md §4). */
const WINDOW_MS = 2 * 60_000;

/** Publishes an event unless the same was told lately, by whichever invocation. */
export async function publishOnce(
  event: PublishedEvent,
  { cluster, kubernetes, store, now }: Pick<ClusterDeps, "cluster" | "kubernetes" | "store" | "now">,
  windowMs = WINDOW_MS,
): Promise<void> {
  const { kind, metadata } = event.about;
  const key = `${kind}/${metadata.namespace ?? ""}/${metadata.name}/${metadata.uid ?? ""}/${event.reason}/${event.message}`;
  if (await store.firstSighting(cluster.name, key, now(), windowMs)) await kubernetes.publish(event);
}
