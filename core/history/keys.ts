// core/history: what was decided and why, kept for people. Records, plans and commands come in; entries, and their
// sentences, sums and answers, go out. Where entries are stored, and how long, must not be known here.

import type { HistoryEntry } from "../model/history-entry.ts";
import type { Paused, Resumed } from "../model/history-holds.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** The subject under which an entry is found: "nodeclaim/NAME", "node/NAME", "command/ID" or "pod/NAMESPACE". */
export function subjectOf(entry: HistoryEntry): string {
  switch (entry.type) {
    case "Registered":
      return `node/${entry.node}`;
    case "Disrupted":
      return `command/${entry.commandId}`;
    case "DisruptionFailed":
      return entry.hadBegun ? `command/${entry.commandId}` : `nodeclaim/${entry.nodes[0]?.nodeClaim ?? ""}`;
    case "PodsWaited":
      return `pod/${entry.namespace}`;
    case "PodsNominated":
      return subjectOfMachine(entry);
    case "Paused":
    case "Resumed":
      return `pause/${sourceOf(entry)}`;
    case "CircuitOpened":
    case "CircuitClosed":
      return `circuit/${entry.scope}`;
    default:
      return `nodeclaim/${entry.nodeClaim}`;
  }
}

/** A machine by its NodeClaim; a node that has none, whose `nodeClaim` is "", by its name. */
export function subjectOfMachine({ nodeClaim, node = "" }: { readonly nodeClaim: string; readonly node?: string | undefined }): string {
  return nodeClaim === "" ? `node/${node}` : `nodeclaim/${nodeClaim}`;
}

const sourceOf = (entry: Paused | Resumed): string => (entry.type === "Paused" ? entry.pause.source : entry.source);

/** What distinguishes an entry from others of its type and subject. */
function detailOf(entry: HistoryEntry): readonly string[] {
  switch (entry.type) {
    case "Registered":
      return [entry.nodeClaim, entry.intent];
    case "LaunchFailed":
      return [entry.intent, entry.reason];
    case "Collected":
      return [entry.machine.instanceId];
    case "Disrupted":
      return [];
    case "DisruptionFailed":
      return entry.hadBegun ? [] : [String(Math.floor(entry.at / HOUR_MS))];
    case "PodsWaited":
      return [entry.owner, String(entry.since)];
    case "PodsNominated":
      return [entry.intent, String(entry.at)];
    case "Paused":
      return [String(entry.pause.at), String(entry.pause.until ?? ""), entry.pause.only ?? ""];
    case "Resumed":
      return [String(entry.pausedAt)];
    case "CircuitOpened":
    case "CircuitClosed":
      return [entry.reason, String(entry.until)];
    default:
      return [entry.intent];
  }
}

/** The key of an entry within its day. The same decision made again has the same key, so it replaces the first one. */
export function keyOf(entry: HistoryEntry): string {
  return [subjectOf(entry), entry.type, ...detailOf(entry)].join("#");
}

/** What the keys of a range's subjects begin with (HistoryRange.about); "" for all. */
export const keyPrefixOf = (about = ""): string => (about === "" || about.endsWith("/") ? about : `${about}#`);

/** What one moment may bring, in the order in which it follows from each other. */
const ORDER: Readonly<Record<HistoryEntry["type"], number>> = {
  ...{ PodsWaited: 0, Disrupted: 1, DisruptionFailed: 1, Planned: 2, LaunchFailed: 3, Launched: 4, Adopted: 4, Registered: 5 },
  PodsNominated: 3,
  ...{ Initialized: 6, Terminating: 7, Hastened: 8, Removed: 9, Collected: 9, Paused: 0, Resumed: 0 },
  ...{ CircuitClosed: 0, CircuitOpened: 0 },
};

/** Sorts entries by time, and those of one moment as they follow from each other. */
export function inOrder(entries: readonly HistoryEntry[]): readonly HistoryEntry[] {
  return entries.toSorted((a, b) => a.at - b.at || ORDER[a.type] - ORDER[b.type] || (keyOf(a) < keyOf(b) ? -1 : 1));
}

/** The day (UTC) that an entry is kept under: "2026-11-25". */
export const dayOf = (at: number): string => new Date(at).toISOString().slice(0, 10);

/** Days that one question reaches back from its end: each is a query, and no table keeps more. */
const MAX_DAYS = 1_000;

/** The days (UTC) from `since` to `until` (ms, exclusive), in order; of a longer range the latest MAX_DAYS. */
export function daysWithin(since: number, until: number): readonly string[] {
  if (until <= since) return [];
  const first = Math.max(Math.floor(since / DAY_MS), Math.ceil(until / DAY_MS) - MAX_DAYS);
  const last = Math.ceil(until / DAY_MS);
  return Array.from({ length: last - first }, (_, i) => dayOf((first + i) * DAY_MS));
}
