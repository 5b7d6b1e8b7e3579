import type { JSX } from "preact";
import { useMemo } from "preact/hooks";
import type { PastEvent, PastOverview } from "../../core/overview/types.ts";
import { clock, counted } from "./format.ts";
import { Badge, Search } from "./parts.tsx";
import { search } from "./query.ts";
import type { Go } from "./route.ts";
import type { Route } from "./route-text.ts";

const FIELDS = [
  { key: "kind", value: ({ kind }: PastEvent) => kind },
  { key: "about", value: ({ title }: PastEvent) => title },
  { key: "why", value: ({ text }: PastEvent) => text },
];

/** What was decided and happened lately, the latest first. */
export function History({ past, route, go }: { readonly past: PastOverview; readonly route: Route; readonly go: Go }): JSX.Element {
  const { q = "" } = route.params;
  const found = useMemo(() => search(past.events, FIELDS, q), [past.events, q]);
  return (
    <section class="fill" aria-label="History">
      <Search
        value={q}
        onChange={(value) => go({ params: { q: value } })}
        hint="Search: kind:disrupted  default-x7k2p  spot"
        count={counted(found.length, "event")}
      />
      <ol class="events" tabIndex={0} aria-label="Events">
        {found.map(({ at, kind, title, text }) => (
          <li key={`${at} ${kind} ${title}`}>
            <span class="number faint">{clock(at)}</span>
            <Badge kind={KINDS[kind] ?? ""}>{kind}</Badge>
            <span>
              <strong>{title}</strong> {text}
            </span>
          </li>
        ))}
        {found.length === 0 && <li class="empty">Nothing was decided in this time.</li>}
      </ol>
    </section>
  );
}

/** The colour of a kind of event. */
const KINDS: Readonly<Record<string, string>> = {
  Planned: "new",
  Disrupted: "goes",
  Removed: "goes",
  PodsWaited: "left",
  LaunchFailed: "left",
  DisruptionFailed: "left",
};
