import type { NodeClaimRecord } from "../model/node-claim-record.ts";

/**
 * How long an initialized node is kept for the pods that it was launched for, ms: twice the default BATCH_MAX_DURATION
 * (karpenter: pkg/controllers/state/statenode.go, nominationWindow). Afterwards pods that are still pending are planned
 * again, and the node may be disrupted.
 */
export const NOMINATION_MS = 20_000;

/**
 * Pod UID to NodeClaim name: the pods that each NodeClaim was planned for, from the intent until NOMINATION_MS after
 * the node is initialized. Of two NodeClaims for one pod the later counts.
 */
export function nominationsOf(records: readonly NodeClaimRecord[], now: number): ReadonlyMap<string, string> {
  return byPod(records.filter(({ initializedAt }) => initializedAt === undefined || now < initializedAt + NOMINATION_MS));
}

/** The same without an end: every NodeClaim that is not terminating, for the pods that it was planned for. */
export function plannedPlaces(records: readonly NodeClaimRecord[]): ReadonlyMap<string, string> {
  return byPod(records);
}

function byPod(records: readonly NodeClaimRecord[]): ReadonlyMap<string, string> {
  const inOrder = records.filter(({ terminating }) => terminating === undefined).sort((a, b) => a.createdAt - b.createdAt);
  return new Map(inOrder.flatMap(({ podUids, name }) => podUids.map((uid) => [uid, name] as const)));
}
