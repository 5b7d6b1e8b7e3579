import { roundRobin } from "#core/lib/round-robin.ts";
import type { SetAside } from "#core/set-aside/set-aside.ts";
import type { ClusterDeps } from "./cluster-deps.ts";
import { publishOnce } from "./publish-once.ts";

/** Equal events about an object within this time are published once. */
const WINDOW_MS = 60 * 60_000;

/** Objects that one pass reports; the metric counts all. No benchmark has tuned it. */
const MAX_REPORTED = 20;
/** Each sweep, other objects come first, ms. */
const TURN_MS = 60_000;

/** Reports what cannot be read: an event on each object, a line in the log, and a metric by kind. */
export async function reportSetAside(setAside: readonly SetAside[], deps: ClusterDeps): Promise<void> {
  const byKind = Map.groupBy(setAside, ({ kind }) => kind);
  for (const [kind, objects] of byKind) deps.metrics.gauge("cluster_state_unreadable_objects", { kind }, objects.length);
  const inTurns = roundRobin(setAside, ({ kind, metadata }) => `${kind}/${metadata.namespace ?? ""}`, Math.floor(deps.now() / TURN_MS));
  for (const { kind, metadata, message, reason = "Unreadable" } of inTurns.slice(0, MAX_REPORTED)) {
    const { name, namespace } = metadata;
    deps.log.error(reason === "Unreadable" ? "object cannot be read" : "object is contested", {
      kind,
      name,
      ...(namespace !== undefined && { namespace }),
      error: message,
    });
    await publishOnce({ type: "Warning", reason, message, about: { kind, metadata } }, deps, WINDOW_MS);
  }
}
