import type { PutEventsRequestEntry } from "@aws-sdk/client-eventbridge";
import type { Announcement, Announcements } from "#core/ports/announcements.ts";
import type { Log } from "#core/ports/log.ts";
import type { PutEvents } from "./event-bus-client.ts";

const SOURCE = "karpenter-serverless";

/** EventBridge's limits of one PutEvents: number of entries, and their size in bytes. */
const MAX_ENTRIES = 10;
const MAX_BYTES = 256 * 1024;

/** How many bytes EventBridge counts for an entry's time. */
const TIME_BYTES = 14;

/** Announcements delay the work by at most this, ms. */
const SEND_TIMEOUT_MS = 1_000;

interface EventBusOptions {
  /** "default", or the name of another bus of the account and region. */
  readonly busName: string;
  readonly log: Log;
  /** Makes the client; called at the first announcement. */
  readonly connect?: () => Promise<PutEvents>;
}

/**
 * Sends announcements as events to an EventBridge bus, whose rules route them on. What cannot be sent within a second
 * is logged and lost.
 */
export function eventBus({
  busName,
  log,
  connect = async () => (await import("./event-bus-client.ts")).eventBridge(),
}: EventBusOptions): Announcements {
  let connection: Promise<PutEvents> | undefined;

  const send = async (entries: readonly PutEventsRequestEntry[], putEvents: PutEvents, signal: AbortSignal): Promise<void> => {
    try {
      const refused = (await putEvents(entries, signal)).filter(({ ErrorCode }) => ErrorCode !== undefined);
      const [first] = refused;
      if (first)
        log.error("event bus refused announcements", { busName, count: refused.length, error: `${first.ErrorCode} ${first.ErrorMessage}` });
    } catch (error) {
      log.error("announcing failed", { busName, count: entries.length, error });
    }
  };

  return {
    async announce(announcements) {
      if (announcements.length === 0) return;
      try {
        connection ??= connect();
        const putEvents = await connection;
        const signal = AbortSignal.timeout(SEND_TIMEOUT_MS);
        const entries = announcements.map((announcement) => entryOf(announcement, busName));
        await Promise.all(batches(entries).map((batch) => send(batch, putEvents, signal)));
      } catch (error) {
        connection = undefined;
        log.error("announcing failed", { busName, count: announcements.length, error });
      }
    },
  };
}

function entryOf(announcement: Announcement, busName: string): PutEventsRequestEntry {
  const { kind, at, detail } = announcement;
  const instance = /\/(i-[0-9a-z]+)$/.exec(String(detail["provider-id"] ?? ""))?.[1];
  const entry = {
    EventBusName: busName,
    Source: SOURCE,
    DetailType: kind,
    Time: new Date(at),
    Resources: instance === undefined ? [] : [instance],
    Detail: JSON.stringify(detail),
  };
  return sizeOf(entry) <= MAX_BYTES ? entry : { ...entry, Detail: JSON.stringify(shortened(detail)) };
}

/** The short fields only, so that an event about thousands of pods still says which command it is. */
function shortened(detail: Announcement["detail"]): Announcement["detail"] {
  const short = Object.entries(detail).filter(([, value]) => (JSON.stringify(value) ?? "").length <= 1_024);
  return { ...Object.fromEntries(short), truncated: true };
}

/** Size in bytes, as EventBridge counts it. */
function sizeOf({ Source = "", DetailType = "", Detail = "", Resources = [] }: PutEventsRequestEntry): number {
  return TIME_BYTES + [Source, DetailType, Detail, ...Resources].reduce((sum, text) => sum + Buffer.byteLength(text), 0);
}

/** Entries in as few batches as the limits allow, in the same order. */
function batches(entries: readonly PutEventsRequestEntry[]): readonly (readonly PutEventsRequestEntry[])[] {
  const made: PutEventsRequestEntry[][] = [];
  let room = 0;
  for (const entry of entries) {
    const size = sizeOf(entry);
    const last = made.at(-1);
    if (last === undefined || last.length === MAX_ENTRIES || size > room) {
      made.push([entry]);
      room = MAX_BYTES - size;
    } else {
      last.push(entry);
      room -= size;
    }
  }
  return made;
}
