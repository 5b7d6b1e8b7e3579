import { printable } from "#adapters/telemetry/log.ts";
import { announcementOf, isRecurring } from "#core/announcements/announcement-of.ts";
import type { Announcement, Announcements } from "#core/ports/announcements.ts";
import type { Log, LogFields } from "#core/ports/log.ts";
import type { ClusterDeps } from "./cluster-deps.ts";

/** The announcements of a stack that has no event bus. `withAnnouncements` then leaves the log as it is. */
export const noAnnouncements: Announcements = { announce: async () => {} };

/** One cause of a recurring event is announced once in this time, although provisioning logs it every minute. */
const RECURRING_WINDOW_MS = 60 * 60_000;

/** Announcements of one run. The log has those beyond; no benchmark has tuned the number. */
const MAX_ANNOUNCEMENTS = 100;

type AnnouncingDeps = Pick<ClusterDeps, "cluster" | "log" | "store" | "announcements" | "now">;

/**
 * Does `work`, and afterwards announces the events (core/announcements/log-events.ts) that it logged, in their order.
 * The announcements are sent last, so that they delay nothing, and also when the work fails, because what was logged
 * was done.
 */
export async function withAnnouncements<D extends AnnouncingDeps>(deps: D, work: (deps: D) => Promise<void>): Promise<void> {
  if (deps.announcements === noAnnouncements) return work(deps);
  const collected: Announcement[] = [];
  const hear = (message: string, fields: LogFields): void => {
    const announcement = announcementOf({ message, fields, at: deps.now() }, deps.cluster.name);
    // Secrets are left out, as the log leaves them out.
    if (announcement) collected.push({ ...announcement, detail: printable(announcement.detail) as Announcement["detail"] });
  };
  try {
    await work({ ...deps, log: teeLog(deps.log, hear) });
  } finally {
    await announceNews(collected, deps);
  }
}

/** The same log; `hear` is called with each info and error line too, with the fields that the log carries. */
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

async function announceNews(
  collected: readonly Announcement[],
  { cluster, log, store, announcements, now }: AnnouncingDeps,
): Promise<void> {
  if (collected.length > MAX_ANNOUNCEMENTS) log.debug("leaving out announcements", { count: collected.length - MAX_ANNOUNCEMENTS });
  const isNews = async ({ kind, detail }: Announcement): Promise<boolean> =>
    !isRecurring(kind) || store.isFirstWithin(cluster.name, `announced/${String(detail["id"])}`, now(), RECURRING_WINDOW_MS);
  try {
    const candidates = collected.slice(0, MAX_ANNOUNCEMENTS);
    const news = await Promise.all(candidates.map(isNews));
    const published = candidates.filter((_, i) => news[i]);
    if (published.length > 0) await announcements.announce(published);
  } catch (error) {
    // The work is done or has failed by now: an announcement must not change its outcome.
    log.error("announcing failed", { error });
  }
}
