// core/signals: what the API server's audit records and admission requests mean: which decisions must run.
// Audit records and admission requests as JSON come in; signals and wake-ups go out. Functions and queues must not be
// known here.

import type { WakeUp } from "../ports/wake-ups.ts";

/**
 * The content of an audit record or admission request that matters. It only wakes a decision, which reads the state
 * itself.
 */
export type Signal =
  | { readonly kind: "pod-unschedulable"; readonly pod: string }
  | { readonly kind: "pod-moved"; readonly pod: string }
  | { readonly kind: "node-changed"; readonly node: string; readonly providerId?: string }
  | { readonly kind: "claim-changed"; readonly claim: string }
  | { readonly kind: "pool-or-class-changed"; readonly name: string }
  | { readonly kind: "buffer-changed"; readonly name: string };

/**
 * Pods and nodes change in bursts; disruption runs once, this long after the first change. No benchmark has tuned it.
 */
export const SETTLE_MS = 5_000;
/** Reasons of wake-ups, as logs show them. */
export const PODS_MOVED = "pods came or went";
export const NODES_WENT = "nodes went";

/** Reasons of wake-ups that come in bursts; they are sent with a delay of SETTLE_MS. */
export const SWARMS: ReadonlySet<string> = new Set([PODS_MOVED, NODES_WENT]);

/**
 * The wake-ups for signals, each once, whatever the number of signals. A node's NodeClaim is found by its instance in
 * the store: `claimOf` holds the NodeClaims that were found, by providerID.
 */
export function wakeUpsFor(cluster: string, signals: readonly Signal[], claimOf: ReadonlyMap<string, string>): readonly WakeUp[] {
  const pods = new Set(signals.flatMap((signal) => (signal.kind === "pod-unschedulable" ? [signal.pod] : [])));
  const moved = signals.some(({ kind }) => kind === "pod-moved");
  const changed = signals.flatMap((signal) => (signal.kind === "pool-or-class-changed" ? [signal.name] : []));
  const claims = new Set(
    signals.flatMap((signal) => {
      if (signal.kind === "claim-changed") return [signal.claim];
      const claim = signal.kind === "node-changed" ? claimOf.get(signal.providerId ?? "") : undefined;
      return claim === undefined ? [] : [claim];
    }),
  );
  const buffers = signals.flatMap((signal) => (signal.kind === "buffer-changed" ? [signal.name] : []));
  // One plan serves both; the reason names the pods first, because pods wait.
  const unplanned = pods.size > 0 ? `${pods.size} pod(s) unschedulable` : buffers[0] && `${buffers[0]} changed`;
  return [
    ...(unplanned ? [{ kind: "provision", cluster, reason: unplanned } as const] : []),
    ...(changed.length > 0 ? [{ kind: "catalog", cluster, reason: `${changed[0]} changed` } as const] : []),
    ...[...claims].sort().map((claim) => ({ kind: "claim", cluster, claim }) as const),
    ...(moved ? [{ kind: "disruption", cluster, reason: PODS_MOVED, delayMs: SETTLE_MS } as const] : []),
  ];
}
