// core/history: what was decided and why, kept for people. Records, plans and commands come in; entries, and their
// sentences, sums and answers, go out. Where entries are stored, and how long, must not be known here.

import type { HistoryEntry } from "../model/history-entry.ts";

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
    default:
      return `nodeclaim/${entry.nodeClaim}`;
  }
}

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

/** The day (UTC) that an entry is kept under: "2026-11-25". */
export const dayOf = (at: number): string => new Date(at).toISOString().slice(0, 10);

/** The days (UTC) from `since` to `until` (ms, exclusive), in order. */
export function daysWithin(since: number, until: number): readonly string[] {
  if (until <= since) return [];
  const first = Math.floor(since / DAY_MS);
  const last = Math.ceil(until / DAY_MS);
  return Array.from({ length: last - first }, (_, i) => dayOf((first + i) * DAY_MS));
}
