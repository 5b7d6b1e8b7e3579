import type { JSX } from "preact";
import { useMemo } from "preact/hooks";
import type { PastEvent, PastOverview } from "#core/insight/overview/types.ts";
import { counted, dated } from "./format.ts";
import { Badge, Search, SpanChoice } from "./parts.tsx";
import { search } from "./query.ts";
import type { Go } from "./route.ts";
import type { Route } from "./route-text.ts";

const FIELDS = [
  { key: "kind", value: ({ kind }: PastEvent) => kind },
  { key: "about", value: ({ title }: PastEvent) => title },
  { key: "why", value: ({ text }: PastEvent) => text },
];

interface HistoryProps {
  /** Undefined while it is read. */
  readonly past: PastOverview | undefined;
  readonly days: number;
  readonly route: Route;
  readonly go: Go;
}

/** What was decided and happened lately, the latest first. */
export function History({ past, days, route, go }: HistoryProps): JSX.Element {
  const { q = "" } = route.params;
  const events = past?.events ?? NONE;
  const found = useMemo(() => search(events, FIELDS, q), [events, q]);
  return (
    <section class="fill" aria-label="History">
      <div class="bar-of-controls">
        <SpanChoice days={days} go={go} />
        <Search
          value={q}
          onChange={(value) => go({ params: { q: value } })}
          hint="Search: kind:disrupted  default-x7k2p  spot"
          count={counted(found.length, "event")}
        />
      </div>
      {past === undefined ? (
        <p class="empty" role="status">
          Reading the history …
        </p>
      ) : (
        <Events events={found} label="Events" empty={q === "" ? "Nothing was decided in this time." : "No event matches the search."} />
      )}
      {past !== undefined && past.moreEvents > 0 && (
        <p class="faint">
          {counted(past.moreEvents, "earlier event")} {past.moreEvents === 1 ? "is" : "are"} not listed; the command history has all.
        </p>
      )}
    </section>
  );
}

const NONE: readonly PastEvent[] = [];

interface EventsProps {
  readonly events: readonly PastEvent[];
  readonly label: string;
  readonly empty: string;
}

/** Events with their time, and their sentence. */
export function Events({ events, label, empty }: EventsProps): JSX.Element {
  return (
    <ol class="events" tabIndex={0} aria-label={label}>
      {events.map(({ at, kind, title, text }) => (
        <li key={`${at} ${kind} ${title}`}>
          <span class="number faint">{dated(at)}</span>
          <Badge kind={KINDS[kind] ?? ""}>{kind}</Badge>
          <span>
            <strong>{title}</strong> {text}
          </span>
        </li>
      ))}
      {events.length === 0 && <li class="empty">{empty}</li>}
    </ol>
  );
}

/** The colour of a kind of event. */
const KINDS: Readonly<Record<string, string>> = {
  Planned: "new",
  Disrupted: "goes",
  Terminating: "goes",
  Hastened: "goes",
  Removed: "goes",
  PodsNominated: "new",
  PodsWaited: "left",
  LaunchFailed: "left",
  DisruptionFailed: "left",
};
