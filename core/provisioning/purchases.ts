import type { Pod } from "../model/pod.ts";
import { podUid } from "../pods/predicates.ts";

/** A machine that was bought for nothing: its node never registered, or ended before one of its pods ran. */
export interface LostPurchase {
  readonly nodeClaim: string;
  readonly podUids: readonly string[];
}

/** By pod UID the machines that were bought for the pod for nothing, by NodeClaim, and when each was lost (ms). */
export type Purchases = Readonly<Record<string, Readonly<Record<string, number>>>>;

const WINDOW_MS = 60 * 60_000;
/** Machines that are bought for a pod within the window: the one that it needs, and two more. */
const MAX_PURCHASES = 3;
/** Pods that are remembered: a document of half a megabyte, before it is compressed. */
const MAX_PODS = 5_000;

/** What is remembered once more machines are lost. A NodeClaim counts once, however often it is reported. */
export function withLostPurchases(before: Purchases, lost: readonly LostPurchase[], now: number): Purchases {
  const after = new Map(Object.entries(before));
  for (const { nodeClaim, podUids } of lost)
    for (const uid of podUids) {
      const known = after.get(uid) ?? {};
      after.delete(uid);
      after.set(uid, { ...known, [nodeClaim]: known[nodeClaim] ?? now });
    }
  const within = [...after].map(([uid, claims]) => [uid, lately(claims, now)] as const);
  return Object.fromEntries(within.filter(([, claims]) => Object.keys(claims).length > 0).slice(-MAX_PODS));
}

const lately = (claims: Readonly<Record<string, number>>, now: number): Readonly<Record<string, number>> =>
  Object.fromEntries(Object.entries(claims).filter(([, at]) => now - at < WINDOW_MS));

/** Pods that no machine is bought for, by UID with the reason, and when that changes, ms since the epoch. */
interface HeldPods {
  readonly reasons: ReadonlyMap<string, string>;
  readonly nextAt: number | undefined;
}

/** A fourth machine within an hour would most likely help a pod as little as the three before it. */
export function podsBoughtFor(purchases: Purchases, pods: readonly Pod[], now: number): HeldPods {
  const held = pods.flatMap((pod) => {
    const times = Object.values(lately(purchases[podUid(pod)] ?? {}, now)).sort((a, b) => b - a);
    const until = times[MAX_PURCHASES - 1];
    return until === undefined ? [] : [{ uid: podUid(pod), until: until + WINDOW_MS }];
  });
  const reasons = new Map(held.map(({ uid, until }) => [uid, reasonText(until)]));
  return { reasons, nextAt: held.length === 0 ? undefined : Math.min(...held.map(({ until }) => until)) };
}

const reasonText = (until: number): string =>
  `${MAX_PURCHASES} machines were bought for the pod within an hour, and it ran on none; no other is bought until ${new Date(until).toISOString().slice(11, 16)} UTC: see the events of the NodeClaims, and change the NodePool or the pod`;
