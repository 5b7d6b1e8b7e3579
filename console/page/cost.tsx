import type { JSX } from "preact";
import type { ClusterOverview, CostPoint, NodeOverview } from "../../core/overview/types.ts";
import { Chart } from "./chart.tsx";
import { clock, counted, money, monthly, percent } from "./format.ts";
import { Badge } from "./parts.tsx";

interface CostProps {
  readonly overview: ClusterOverview;
  readonly points: readonly CostPoint[];
}

/** What the cluster costs: over time, by NodePool, and by instance type. */
export function CostSection({ overview, points }: CostProps): JSX.Element {
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
      {points.length > 1 && (
        <article class="card">
          <Chart points={points} height={180} timeText={clock} />
        </article>
      )}
      <article class="card">
        <table class="plain-table">
          <caption>By NodePool</caption>
          <thead>
            <tr>
              <th scope="col">NodePool</th>
              <th scope="col" class="number">
                Nodes
              </th>
              <th scope="col" class="number">
                $/h
              </th>
              <th scope="col" class="number">
                On demand
              </th>
              <th scope="col" class="number">
                Saved
              </th>
            </tr>
          </thead>
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
          <thead>
            <tr>
              <th scope="col">Type</th>
              <th scope="col" class="number">
                Nodes
              </th>
              <th scope="col" class="number">
                $/h
              </th>
              <th scope="col" class="number">
                On demand
              </th>
              <th scope="col" class="number">
                Saved
              </th>
            </tr>
          </thead>
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
