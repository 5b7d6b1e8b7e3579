import type { HistoryEntry, PodsNominated } from "../model/history-entry.ts";
import type { Pod } from "../model/pod.ts";
import { podKey } from "../pods/predicates.ts";
import { creationTimes, MAX_PODS } from "./planned.ts";

/** A pod that two plans place differently is written again after so long at the earliest, ms. */
const MIN_CHANGE_MS = 60_000;

/** The last entry of a pod that waits. */
export interface ToldPlace {
  /** The subject of its entry: "nodeclaim/NAME" or "node/NAME". */
  readonly subject: string;
  /** ms since the epoch. */
  readonly at: number;
}

/** Whether no entry is due for a pod that waits for `subject` at `now` (ms), as far as `last` says. */
export function isToldOf(last: ToldPlace | undefined, subject: string, now: number): boolean {
  return last !== undefined && (last.subject === subject || now - last.at < MIN_CHANGE_MS);
}

/** What an entry about pods that wait has, but for the pods. */
export type NominatedAbout = Omit<PodsNominated, "type" | "pods" | "podCount" | "waitedMs">;

/**
 * The entry for pods that wait for a machine; undefined when `known`, the entries about it, cover each. A pod of a
 * StatefulSet has the name of the one before it, so an entry that is older than the pod says nothing about it.
 */
export function nominatedEntry(about: NominatedAbout, pods: readonly Pod[], known: readonly HistoryEntry[]): PodsNominated | undefined {
  const createdAt = creationTimes(pods);
  const isKnown = (pod: string): boolean =>
    known.some(
      (entry) =>
        (entry.type === "Planned" || entry.type === "PodsNominated") &&
        entry.intent === about.intent &&
        entry.pods.includes(pod) &&
        !(entry.at < (createdAt.get(pod) ?? entry.at)),
    );
  const names = pods
    .map(podKey)
    .filter((pod) => !isKnown(pod))
    .sort();
  if (names.length === 0) return undefined;
  const ages = names.map((pod) => about.at - (createdAt.get(pod) ?? Number.NaN)).filter((age) => age >= 0);
  return {
    ...{ type: "PodsNominated", ...about, pods: names.slice(0, MAX_PODS), podCount: names.length },
    ...(ages.length > 0 && { waitedMs: Math.max(...ages) }),
  };
}
