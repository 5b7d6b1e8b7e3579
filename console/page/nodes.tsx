import type { ComponentChildren, JSX } from "preact";
import { useMemo } from "preact/hooks";
import type { ClusterOverview, NodeOverview, NodeVerdict } from "#core/insight/overview/types.ts";
import { counted, duration, money, price } from "./format.ts";
import { type Column, Grid } from "./grid.tsx";
import { Badge, Bar, Search } from "./parts.tsx";
import { search, sorted } from "./query.ts";
import type { Go } from "./route.ts";
import type { Route } from "./route-text.ts";

const roomOf = (node: NodeOverview, name: string) => node.room.find((room) => room.name === name);

/** Percent of a node's resource that pods ask for. */
function shareOf(node: NodeOverview, name: string): number {
  const { requested = 0, allocatable = 0 } = roomOf(node, name) ?? {};
  return allocatable === 0 ? 0 : (100 * requested) / allocatable;
}

export const VERDICTS: Readonly<Record<NodeVerdict, string>> = {
  goes: "goes",
  next: "goes later",
  leaving: "leaving",
  stays: "stays",
  unseen: "stays",
  other: "not ours",
};

function columnsAt(at: number): readonly Column<NodeOverview>[] {
  return [
    {
      key: "name",
      title: "Node",
      width: "minmax(130px, 2.2fr)",
      value: ({ name }) => name,
      cell: ({ name, state, problem }) => (
        <span class="name" title={name}>
          <span class={`dot ${state.replace(" ", "-")}`} role="img" aria-label={state} title={problem ?? state} />
          {name}
        </span>
      ),
    },
    {
      key: "cpu",
      title: "CPU",
      width: "minmax(90px, 1.3fr)",
      isNumber: true,
      value: (node) => shareOf(node, "cpu"),
      cell: (node) => <Bar room={roomOf(node, "cpu")} />,
    },
    {
      key: "memory",
      title: "Memory",
      width: "minmax(90px, 1.3fr)",
      isNumber: true,
      value: (node) => shareOf(node, "memory"),
      cell: (node) => <Bar room={roomOf(node, "memory")} />,
    },
    { key: "pods", title: "Pods", width: "44px", isNumber: true, value: ({ pods }) => pods, cell: ({ pods }) => pods },
    {
      key: "type",
      title: "Type",
      width: "minmax(100px, 1fr)",
      value: ({ instanceType }) => instanceType,
      cell: ({ instanceType }) => instanceType,
    },
    {
      key: "capacity",
      title: "Capacity",
      width: "92px",
      from: 850,
      value: ({ capacityType }) => capacityType,
      cell: ({ capacityType }) => (capacityType === "" ? "" : <Badge kind={capacityType}>{capacityType}</Badge>),
    },
    { key: "zone", title: "Zone", width: "96px", from: 1_120, value: ({ zone }) => zone, cell: ({ zone }) => zone },
    {
      key: "pool",
      title: "NodePool",
      width: "minmax(80px, 1fr)",
      from: 1_010,
      value: ({ nodePool }) => nodePool,
      cell: ({ nodePool }) => nodePool,
    },
    // An older node has the smaller time, and a person sorts by age.
    {
      key: "age",
      title: "Age",
      width: "64px",
      from: 920,
      isNumber: true,
      value: ({ createdAt }) => at - createdAt,
      cell: ({ createdAt }) => duration(at - createdAt),
    },
    {
      key: "price",
      title: "$/h",
      width: "74px",
      isNumber: true,
      value: ({ pricePerHour }) => pricePerHour,
      cell: ({ pricePerHour }) => price(pricePerHour),
    },
    {
      key: "fate",
      title: "Disruption",
      width: "96px",
      value: ({ fate }) => VERDICTS[fate.verdict],
      cell: ({ fate }) => (
        <span title={fate.text}>
          <Badge kind={fate.verdict}>{VERDICTS[fate.verdict]}</Badge>
        </span>
      ),
    },
  ];
}

/** Found by the search as well, beside what has a column. */
const MORE = [
  { key: "claim", value: ({ nodeClaim }: NodeOverview) => nodeClaim },
  { key: "state", value: ({ state }: NodeOverview) => state },
  { key: "why", value: ({ fate }: NodeOverview) => fate.text },
];

interface NodesProps {
  readonly overview: ClusterOverview;
  readonly route: Route;
  readonly go: Go;
  /** Below the table. */
  readonly children?: ComponentChildren;
}

/** The nodes of a cluster as bars of what pods ask for. */
export function Nodes({ overview, route, go, children }: NodesProps): JSX.Element {
  const { nodes, at } = overview;
  const { q = "", sort = "-price", node } = route.params;
  // Ages count in minutes where nothing else changes, so that rows are not drawn each second.
  const columns = useMemo(() => columnsAt(at), [at]);
  const rows = useMemo(() => sorted(search(nodes, [...columns, ...MORE], q), columns, sort), [nodes, columns, q, sort]);
  // An instance that shuts down has a row and costs nothing any more; the headline knows.
  const sum = q === "" ? overview.cost.perHour : rows.reduce((total, { pricePerHour }) => total + pricePerHour, 0);
  return (
    <section class="fill" aria-label="Nodes">
      <Search
        value={q}
        onChange={(value) => go({ params: { q: value } })}
        hint="Search: spot  pool:default  cpu<30  -zone:us-west-2a"
        count={`${counted(rows.length, "node")}, ${money(sum)}/h`}
      />
      <Grid
        label="Nodes"
        columns={columns}
        rows={rows}
        keyOf={({ name }) => name}
        order={sort}
        onOrder={(value) => go({ params: { sort: value } })}
        open={node}
        onOpen={(name) => go({ params: { node: name === node ? "" : name } }, "push")}
        empty={nodes.length === 0 ? "There are no nodes." : "No node matches the search."}
      />
      {children}
    </section>
  );
}
