import type { JSX } from "preact";
import type { ClusterOverview, CostPoint, NodeOverview, PastOverview } from "../../core/overview/types.ts";
import { Chart } from "./chart.tsx";
import { clock, counted, duration, money, monthly, percent } from "./format.ts";
import { Badge } from "./parts.tsx";

interface CostProps {
  readonly overview: ClusterOverview;
  readonly points: readonly CostPoint[];
  readonly past: PastOverview | undefined;
}

/** What the cluster costs: over time, by NodePool, and by instance type. */
export function CostSection({ overview, points, past }: CostProps): JSX.Element {
  const { cost, nodePools, nodes } = overview;
  const ours = nodes.filter(({ fate }) => fate.verdict !== "other");
  const kinds = [...Map.groupBy(ours, ({ instanceType, capacityType }) => `${instanceType} ${capacityType}`).values()]
    .map((group) => ({
      first: group[0],
      count: group.length,
      perHour: sum(group, "pricePerHour"),
      onDemand: sum(group, "onDemandPerHour"),
    }))
    .sort((a, b) => b.perHour - a.perHour);
  return (
    <section class="cards" aria-label="Cost">
      {past !== undefined && <PastCost past={past} end={overview.at} />}
      {past === undefined && points.length > 1 && (
        <article class="card">
          <Chart points={points} height={180} timeText={clock} />
        </article>
      )}
      <article class="card">
        <table class="plain-table">
          <caption>By NodePool</caption>
          <Head of="NodePool" />
          <tbody>
            {nodePools.map((pool) => (
              <Line key={pool.name} name={pool.name} count={pool.nodes} perHour={pool.cost.perHour} onDemand={pool.cost.onDemandPerHour} />
            ))}
          </tbody>
          <tfoot>
            <Line name="all" count={ours.length} perHour={cost.perHour} onDemand={cost.onDemandPerHour} />
          </tfoot>
        </table>
        <p class="faint">
          {monthly(cost.perHour)}
          {cost.unpriced > 0 && `; ${counted(cost.unpriced, "node")} of unknown price count as 0`}
        </p>
      </article>
      <article class="card">
        <table class="plain-table">
          <caption>By instance type</caption>
          <Head of="Type" />
          <tbody>
            {kinds
              .slice(0, MAX_KINDS)
              .map(({ first, count, perHour, onDemand }) =>
                first === undefined ? null : (
                  <Line
                    key={`${first.instanceType} ${first.capacityType}`}
                    name={first.instanceType}
                    badge={first.capacityType}
                    count={count}
                    perHour={perHour}
                    onDemand={onDemand}
                  />
                ),
              )}
          </tbody>
        </table>
        {kinds.length > MAX_KINDS && <p class="faint">and {kinds.length - MAX_KINDS} more kinds</p>}
      </article>
    </section>
  );
}

/** The titles of the columns that Line fills. */
function Head({ of }: { readonly of: string }): JSX.Element {
  return (
    <thead>
      <tr>
        <th scope="col">{of}</th>
        {["Nodes", "$/h", "On demand", "Saved"].map((title) => (
          <th key={title} scope="col" class="number">
            {title}
          </th>
        ))}
      </tr>
    </thead>
  );
}

/** The last day: what it cost, and what it would have cost. */
function PastCost({ past, end }: { readonly past: PastOverview; readonly end: number }): JSX.Element {
  const { since, dollars, onDemandDollars, consolidationSavesPerHour, costs } = past;
  const saved = onDemandDollars - dollars;
  const last = costs.at(-1);
  return (
    <article class="card">
      <header>
        <h3>The last {duration(end - since)}</h3>
        <span class="push number strong">{money(dollars)}</span>
      </header>
      <p class="faint">
        {money(onDemandDollars)} on demand
        {saved > 0.005 && `: spot and reservations saved ${money(saved)}`}
        {consolidationSavesPerHour > 0 && `; the consolidations of this time save ${money(consolidationSavesPerHour)} an hour since`}
      </p>
      <Chart points={last === undefined ? costs : [...costs, { ...last, at: end }]} height={180} timeText={clock} />
    </article>
  );
}

/** Kinds of nodes that are listed. */
const MAX_KINDS = 40;

const sum = (nodes: readonly NodeOverview[], field: "pricePerHour" | "onDemandPerHour"): number =>
  nodes.reduce((total, node) => total + node[field], 0);

interface LineProps {
  readonly name: string;
  readonly badge?: string;
  readonly count: number;
  readonly perHour: number;
  readonly onDemand: number;
}

function Line({ name, badge, count, perHour, onDemand }: LineProps): JSX.Element {
  return (
    <tr>
      <th scope="row">
        {name} {badge !== undefined && badge !== "" && <Badge kind={badge}>{badge}</Badge>}
      </th>
      <td class="number">{count}</td>
      <td class="number">{money(perHour)}</td>
      <td class="number faint">{money(onDemand)}</td>
      <td class="number">{onDemand - perHour > 0.00005 ? percent((onDemand - perHour) / onDemand) : "–"}</td>
    </tr>
  );
}
