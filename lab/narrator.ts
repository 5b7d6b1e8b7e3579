import { fieldsOf, type LogMessage } from "#core/announcements/log-events.ts";
import { andOthers } from "#functions/provision/report-plan.ts";
import { renderEntry, type TimelineEntry } from "./render.ts";
import { entryOf, type LoggedLine } from "./timeline.ts";

/** Prints a story line by line. */
export interface Narrator {
  /** Takes a log line of a handler. A line that says nothing new is not printed. */
  hear(line: LoggedLine): void;
  say(entry: TimelineEntry): void;
  /** Prints the lines that are still held back; to be called before anything else is printed. */
  flush(): void;
  /** Why each pod could not be scheduled when it was last tried, by "namespace/name". */
  readonly waiting: ReadonlyMap<string, string>;
}

interface NarratorOptions {
  /** ms since the epoch: +00:00. */
  readonly start: number;
  readonly colour: boolean;
  /** Columns. */
  readonly width?: number;
  readonly print: (line: string) => void;
  /** Called with each line before it is rendered. */
  readonly onEntry?: (entry: TimelineEntry) => void;
  /** USD per hour of everything that runs. */
  readonly pricePerHour: () => number;
}

/** What the functions say of gaps in the bundled data, which no story is about. */
const ABOUT_DATA: ReadonlySet<string> = new Set([
  "burstable instance families whose CPU credits are not known count as T3",
  "instance types without a row of limits have no pods with security groups and no label of their network bandwidth",
]);

const UNSCHEDULED = "could not schedule pod" satisfies LogMessage;

/**
 * Every pass logs which pods cannot be scheduled and which nodes are not ready yet. The narrator prints that once, and
 * names pods with the same reason together.
 */
export function narrator({ print, pricePerHour, onEntry, ...options }: NarratorOptions): Narrator {
  const waiting = new Map<string, string>();
  let news: { readonly at: number; readonly pod: string; readonly reason: string; readonly pricePerHour: number }[] = [];
  let unready = "";
  const tell = (entry: TimelineEntry): void => {
    onEntry?.(entry);
    print(renderEntry(entry, options));
  };
  const flush = (): void => {
    const published = news;
    news = [];
    for (const [reason, group] of Map.groupBy(published, (n) => n.reason)) {
      const pods = group.map(({ pod }) => pod);
      const { at = 0, pricePerHour: price = 0 } = group[0] ?? {};
      const what = `${UNSCHEDULED}${pods.length === 1 ? "" : "s"}`;
      tell({ at, what, which: andOthers(pods), why: reason, isError: true, pricePerHour: price });
    }
  };
  return {
    waiting,
    flush,
    say(entry) {
      flush();
      tell(entry);
    },
    hear(line) {
      const { at } = line;
      if (ABOUT_DATA.has(line.message)) return;
      const unscheduled = fieldsOf(line, UNSCHEDULED);
      if (unscheduled) {
        const [pod, reason] = [String(unscheduled.Pod), String(unscheduled.error)];
        if (waiting.get(pod) !== reason) news.push({ at, pod, reason, pricePerHour: pricePerHour() });
        waiting.set(pod, reason);
        return;
      }
      const entry = entryOf(line, pricePerHour());
      if (!entry) return;
      if (fieldsOf(line, "computed unready node(s) will fit pod(s)")) {
        const same = unready === entry.why;
        unready = entry.why ?? "";
        if (same) return;
      }
      flush();
      tell(entry);
    },
  };
}
