import type { JSX } from "preact";
import { useMemo } from "preact/hooks";
import type { ClusterOverview, PodOverview, WaitingPods } from "#core/insight/overview/types.ts";
import { amount, counted, duration } from "./format.ts";
import { type Column, Grid } from "./grid.tsx";
import { Badge, Search } from "./parts.tsx";
import { search, sorted } from "./query.ts";
import type { Go } from "./route.ts";
import type { Route } from "./route-text.ts";

const keyOf = ({ namespace, name }: PodOverview): string => `${namespace}/${name}`;

function columnsAt(at: number): readonly Column<PodOverview>[] {
  return [
    {
      key: "name",
      title: "Pod",
      width: "minmax(180px, 3fr)",
      value: keyOf,
      cell: (pod) => (
        <span class="name" title={keyOf(pod)}>
          <span class="faint">{pod.namespace}/</span>
          {pod.name}
        </span>
      ),
    },
    {
      key: "phase",
      title: "Phase",
      width: "110px",
      value: ({ phase }) => phase,
      cell: ({ phase }) => <Badge kind={phase.toLowerCase()}>{phase}</Badge>,
    },
    { key: "cpu", title: "CPU", width: "80px", isNumber: true, value: ({ cpu }) => cpu, cell: ({ cpu }) => amount(cpu, "cpu") },
    {
      key: "memory",
      title: "Memory",
      width: "100px",
      isNumber: true,
      value: ({ memory }) => memory,
      cell: ({ memory }) => amount(memory, "memory"),
    },
    {
      key: "node",
      title: "Node",
      width: "minmax(150px, 2fr)",
      value: ({ node }) => node,
      cell: ({ node }) => <span class="name">{node || <span class="faint">none yet</span>}</span>,
    },
    { key: "owner", title: "Controller", width: "120px", value: ({ owner }) => owner, cell: ({ owner }) => owner },
    {
      key: "age",
      title: "Age",
      width: "80px",
      isNumber: true,
      value: ({ createdAt }) => at - createdAt,
      cell: ({ createdAt }) => duration(at - createdAt),
    },
  ];
}

interface PodsProps {
  readonly overview: ClusterOverview;
  readonly pods: readonly PodOverview[] | undefined;
  readonly route: Route;
  readonly go: Go;
}

/** All pods; opening one shows its node. */
export function Pods({ overview, pods = [], route, go }: PodsProps): JSX.Element {
  const { q = "", sort = "name" } = route.params;
  const columns = useMemo(() => columnsAt(overview.at), [overview.at]);
  const rows = useMemo(() => sorted(search(pods, columns, q), columns, sort), [pods, columns, q, sort]);
  return (
    <section class="fill" aria-label="Pods">
      <Search
        value={q}
        onChange={(value) => go({ params: { q: value } })}
        hint="Search: web  phase:pending  cpu>2  node:ip-10-0"
        count={counted(rows.length, "pod")}
      />
      <Grid
        label="Pods"
        columns={columns}
        rows={rows}
        keyOf={keyOf}
        order={sort}
        onOrder={(value) => go({ params: { sort: value } })}
        onOpen={(key) => go({ params: { node: pods.find((pod) => keyOf(pod) === key)?.node ?? "" } }, "push")}
        empty={pods.length === 0 ? "There are no pods." : "No pod matches the search."}
      />
    </section>
  );
}

const STATES: Readonly<Record<WaitingPods["state"], string>> = {
  left: "no place",
  planned: "next purchase",
  coming: "node on its way",
  room: "has room",
  other: "waits",
};

/** Pods that a group names at first. */
const MAX_NAMED = 8;

/** Pods that wait, together where they wait for the same, with the reason. */
export function Waiting({ overview }: { readonly overview: ClusterOverview }): JSX.Element {
  const { waiting, at } = overview;
  if (waiting.length === 0) return <p class="empty">No pod waits for a node.</p>;
  return (
    <section class="cards" aria-label="Pods that wait">
      {waiting.map(({ state, text, pods }) => {
        const since = Math.min(...pods.map(({ createdAt }) => createdAt));
        return (
          <article key={`${state} ${text}`} class="card">
            <header>
              <Badge kind={state}>{STATES[state]}</Badge>
              <h3>{counted(pods.length, "pod")}</h3>
              <span class="faint">the oldest for {duration(at - since) || "an unknown time"}</span>
            </header>
            <ReasonText text={text} />
            <p class="names">{pods.slice(0, MAX_NAMED).map(keyOf).join(", ")}</p>
            {pods.length > MAX_NAMED && (
              <details>
                <summary>and {pods.length - MAX_NAMED} more</summary>
                <p class="names">{pods.slice(MAX_NAMED).map(keyOf).join(", ")}</p>
              </details>
            )}
          </article>
        );
      })}
    </section>
  );
}

/** A reason; where it speaks of several NodePools, a line for each. */
function ReasonText({ text }: { readonly text: string }): JSX.Element {
  const parts = text.split(/; (?=NodePools? )/);
  return parts.length === 1 ? (
    <p>{text}</p>
  ) : (
    <ul class="reasons">
      {parts.map((part) => (
        <li key={part}>{part}</li>
      ))}
    </ul>
  );
}
