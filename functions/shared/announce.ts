import { announcementOf, isRecurring } from "../../core/announcements/announcement-of.ts";
import type { Announcement, Announcements } from "../../core/ports/announcements.ts";
import type { Log, LogFields } from "../../core/ports/log.ts";
import { printable } from "../adapters/log.ts";
import type { ClusterDeps } from "./cluster-deps.ts";

/** For stacks that announce nothing: with it no line is even looked at. */
export const noAnnouncements: Announcements = { announce: async () => {} };

/** A pod that fits nowhere is planned for each minute: it is told once in this time. */
const RECURRING_MS = 60 * 60_000;

/** The rest of a flood is in the log. */
const MOST = 100;

type AnnouncingDeps = Pick<ClusterDeps, "cluster" | "log" | "store" | "announcements" | "now">;

/**
 * Does `work`, and announces afterwards what its log lines say became of nodes and pods, in their order. Last, so that it delays nothing; also when the
 * work fails, since what was logged was done.
 */
export async function withAnnouncements<D extends AnnouncingDeps>(deps: D, work: (deps: D) => Promise<void>): Promise<void> {
  if (deps.announcements === noAnnouncements) return work(deps);
  const collected: Announcement[] = [];
  const hear = (message: string, fields: LogFields): void => {
    const announcement = announcementOf({ message, fields, at: deps.now() }, deps.cluster.name);
    // Secrets stay out of it as they stay out of the log.
    if (announcement) collected.push({ ...announcement, detail: printable(announcement.detail) as Announcement["detail"] });
  };
  try {
    await work({ ...deps, log: teeLog(deps.log, hear) });
  } finally {
    await tell(collected, deps);
  }
}

/** The same log, whose lines for people are heard by `hear` too. */
function teeLog(log: Log, hear: (message: string, fields: LogFields) => void, carried: LogFields = {}): Log {
  const both =
    (level: "info" | "error") =>
    (message: string, fields: LogFields = {}): void => {
      log[level](message, fields);
      hear(message, { ...carried, ...fields });
    };
  return {
    debug: (message, fields) => log.debug(message, fields),
    info: both("info"),
    error: both("error"),
    with: (fields) => teeLog(log.with(fields), hear, { ...carried, ...fields }),
  };
}

async function tell(collected: readonly Announcement[], { cluster, log, store, announcements, now }: AnnouncingDeps): Promise<void> {
  if (collected.length > MOST) log.debug("leaving out announcements", { count: collected.length - MOST });
  const isNews = async ({ kind, detail }: Announcement): Promise<boolean> =>
    !isRecurring(kind) || store.isFirstWithin(cluster.name, `announced/${String(detail["id"])}`, now(), RECURRING_MS);
  try {
    const candidates = collected.slice(0, MOST);
    const news = await Promise.all(candidates.map(isNews));
    const published = candidates.filter((_, i) => news[i]);
    if (published.length > 0) await announcements.announce(published);
  } catch (error) {
    // Whatever the work came to stands.
    log.error("announcing failed", { error });
  }
}
