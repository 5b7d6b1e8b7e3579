import { contentHash } from "../lib/fnv.ts";
import type { Announcement, AnnouncementKind } from "../ports/announcements.ts";
import type { LogFields } from "../ports/log.ts";
import { eventOf, LOG_EVENTS, type WriterFields } from "./log-events.ts";

/** A line of the log, as it was written. */
interface Line {
  readonly message: string;
  readonly fields: LogFields;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

const WRITER: Readonly<Record<keyof WriterFields, true>> = {
  controller: true,
  controllerGroup: true,
  controllerKind: true,
  namespace: true,
  name: true,
  cluster: true,
};

/** What a line announces, with the line's own message and fields; undefined for a line that only people read. */
export function announcementOf({ message, fields, at }: Line, cluster: string): Announcement | undefined {
  const event = eventOf(message);
  const announced = event && LOG_EVENTS[event].announced;
  if (announced === undefined) return undefined;
  const { kind, identity } = announced;
  const id = contentHash([cluster, kind, ...identity.map((field: string) => fields[field])]);
  const published = Object.entries(fields).filter(([name, value]) => !Object.hasOwn(WRITER, name) && value !== undefined);
  return { kind, cluster, at, detail: { id, cluster, message, ...Object.fromEntries(published) } };
}

const RECURRING: ReadonlySet<AnnouncementKind> = new Set(
  Object.values(LOG_EVENTS).flatMap(({ announced }) => (announced?.recurring ? [announced.kind] : [])),
);

/** Whether announcements of this kind are made again and again for one cause, and are deduplicated within a time. */
export function isRecurring(kind: AnnouncementKind): boolean {
  return RECURRING.has(kind);
}
