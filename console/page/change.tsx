import type { JSX } from "preact";
import { useMemo } from "preact/hooks";
import type { ChangeOverview, NodeChange } from "#core/insight/overview/types.ts";
import { counted, duration, money, monthly, percent, price } from "./format.ts";
import { type Column, Grid } from "./grid.tsx";
import { Badge, Search } from "./parts.tsx";
import { search, sorted } from "./query.ts";
import type { Go } from "./route.ts";
import type { Route } from "./route-text.ts";

const COLUMNS: readonly Column<NodeChange>[] = [
  {
    key: "name",
    title: "Node",
    width: "minmax(120px, 2fr)",
    value: ({ node }) => node,
    cell: ({ node }) => (
      <span class="name" title={node}>
        {node}
      </span>
    ),
  },
  {
    key: "type",
    title: "Type",
    width: "minmax(96px, 1.2fr)",
    value: ({ instanceType }) => instanceType,
    cell: ({ instanceType }) => instanceType || "on its way",
  },
  {
    key: "capacity",
    title: "Capacity",
    width: "100px",
    value: ({ capacityType }) => capacityType,
    cell: ({ capacityType }) => (capacityType === "" ? "" : <Badge kind={capacityType}>{capacityType}</Badge>),
  },
  {
    key: "price",
    title: "$/h",
    width: "78px",
    isNumber: true,
    value: ({ pricePerHour }) => pricePerHour,
    cell: ({ pricePerHour }) => price(pricePerHour),
  },
  {
    key: "change",
    title: "Fate",
    width: "78px",
    value: ({ change }) => change,
    cell: ({ change, text }) => (
      <span title={text}>
        <Badge kind={change}>{change}</Badge>
      </span>
    ),
  },
];
const FIELDS = [
  ...COLUMNS,
  { key: "pool", value: ({ nodePool }: NodeChange) => nodePool },
  { key: "why", value: ({ text }: NodeChange) => text },
];

interface ChangeProps {
  readonly change: ChangeOverview;
  readonly start: number;
  readonly route: Route;
  readonly go: Go;
}

/** A what-if: the bills, the nodes before and after side by side, and the steps from one to the other. */
export function Change({ change, start, route, go }: ChangeProps): JSX.Element {
  const { q = "", sort = "", before = "", after = "", node } = route.params;
  const { nodes, bills, steps } = change;
  const found = useMemo(() => search(nodes, FIELDS, q), [nodes, q]);
  const [today, later] = useMemo(
    () => [
      sorted(
        found.filter((one) => one.change !== "new"),
        COLUMNS,
        before || sort,
      ),
      sorted(
        found.filter((one) => one.change !== "goes"),
        COLUMNS,
        after || sort,
      ),
    ],
    [found, before, after, sort],
  );
  const opened = nodes.find((one) => one.node === node);
  const [last, base] = [bills.at(-1), bills.length === 3 ? bills[1] : bills[0]];
  const less = (base?.perHour ?? 0) - (last?.perHour ?? 0);
  const count = (kind: NodeChange["change"]): number => nodes.filter((one) => one.change === kind).length;
  const side = (title: string, rows: readonly NodeChange[], key: "before" | "after", order: string) => (
    <div class="side">
      <h2>
        {title}{" "}
        <span class="faint">
          {counted(rows.length, "node")}, {money(rows.reduce((sum, { pricePerHour }) => sum + pricePerHour, 0))}/h
        </span>
      </h2>
      <Grid
        label={title}
        columns={COLUMNS}
        rows={rows}
        keyOf={(row) => row.node}
        order={order}
        onOrder={(value) => go({ params: { [key]: value } })}
        open={node}
        onOpen={(name) => go({ params: { node: name === node ? "" : name } })}
        empty="No node."
      />
    </div>
  );
  return (
    <section class="fill" aria-label="What if">
      <div class="verdict">
        <div>
          {change.change.length === 0 ? (
            <p class="what">What disruption would do with no change</p>
          ) : (
            change.change.map((text) => (
              <p key={text} class="what">
                What if {text}
              </p>
            ))
          )}
          <p class="faint">
            {counted(count("goes"), "node")} {count("goes") === 1 ? "goes" : "go"}, {counted(count("new"), "node")}{" "}
            {count("new") === 1 ? "is" : "are"} bought, {counted(count("stays"), "node")} {count("stays") === 1 ? "stays" : "stay"};{" "}
            {counted(change.podsMoved, "pod")} moved,{" "}
            {change.outcome === "settled"
              ? `settled after ${duration(change.settledAt - start) || "no time"}`
              : "not settled within the time that was looked ahead"}
            .
          </p>
        </div>
        <p class={`big ${less > 0 ? "good" : less < 0 ? "bad" : ""}`}>
          {Math.abs(less) < 1e-6
            ? "costs the same"
            : `${less > 0 ? "saves" : "costs"} ${money(Math.abs(less))}/h${less > 0 ? "" : " more"}`}
          <span class="faint">
            {Math.abs(less) < 1e-6
              ? ""
              : ` ${monthly(Math.abs(less))}${(base?.perHour ?? 0) > 0 ? `, ${percent(Math.abs(less) / (base?.perHour ?? 1))}` : ""}`}
            {bills.length === 3 ? " beside what happens anyway" : ""}
          </span>
        </p>
      </div>
      <table class="bills">
        <caption class="hidden">The bills</caption>
        <thead>
          <tr>
            {bills.map(({ title }) => (
              <th key={title} scope="col">
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          <tr>
            {bills.map(({ title, nodes: n, perHour }) => (
              <td key={title} class="number">
                <span class="stat-value">{money(perHour)}/h</span>{" "}
                <span class="faint">
                  {counted(n, "node")}, {monthly(perHour)}
                </span>
              </td>
            ))}
          </tr>
        </tbody>
      </table>
      <Search
        value={q}
        onChange={(value) => go({ params: { q: value } })}
        hint="Search: spot  change:goes  pool:default  price>0.5"
        count={counted(found.length, "node")}
      />
      {opened !== undefined && (
        <p class="opened" role="status">
          <strong>{opened.node}</strong> <Badge kind={opened.change}>{opened.change}</Badge>{" "}
          {opened.at !== undefined && `after ${duration(opened.at - start) || "no time"}: `}
          {opened.text === "" ? "nothing is said about it" : opened.text}
        </p>
      )}
      <div class="sides">
        {side("Today", today, "before", before || sort)}
        {side("After", later, "after", after || sort)}
      </div>
      <details class="steps-list" open={nodes.length < 12}>
        <summary>
          {counted(steps.length, "step")}
          {change.left.length > 0 && `, ${counted(change.left.length, "pod")} without a place`}
          {change.warnings.length > 0 && `, ${counted(change.warnings.length, "remark")}`}
        </summary>
        <ol>
          {steps.map(({ at, text }) => (
            <li key={`${at} ${text}`}>
              <span class="number faint">+{duration(at - start) || "0s"}</span> {text}
            </li>
          ))}
        </ol>
        <ul class="reasons">
          {change.left.map(({ pod, text }) => (
            <li key={pod}>
              {pod} waits: {text}
            </li>
          ))}
          {change.warnings.map((text) => (
            <li key={text}>{text}</li>
          ))}
        </ul>
      </details>
    </section>
  );
}
