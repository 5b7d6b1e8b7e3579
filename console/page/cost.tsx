import type { JSX } from "preact";
import type { ClusterOverview, CostPoint, NodeOverview, PastOverview } from "#core/insight/overview/types.ts";
import { Chart } from "./chart.tsx";
import { clock, counted, dated, money, monthly, percent } from "./format.ts";
import { Badge, NumbersHead, SpanChoice } from "./parts.tsx";
import type { Go } from "./route.ts";

interface CostProps {
  readonly overview: ClusterOverview;
  readonly points: readonly CostPoint[];
  /** Whether the history is read at all, and what it says of the chosen days. */
  readonly hasPast: boolean;
  readonly past: PastOverview | undefined;
  readonly days: number;
  readonly go: Go;
}

/** What the cluster costs: over time, by NodePool, and by instance type. */
export function CostSection({ overview, points, hasPast, past, days, go }: CostProps): JSX.Element {
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
      {hasPast && <PastCost past={past} days={days} go={go} />}
      {!hasPast && (points.at(-1)?.at ?? 0) > (points[0]?.at ?? 0) && (
        <article class="card">
          <Chart points={points} height={180} timeText={clock} />
        </article>
      )}
      <article class="card">
        <table class="plain-table">
          <caption>Now, by NodePool</caption>
          <NumbersHead of="NodePool" titles={LINE_TITLES} />
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
          <caption>Now, by instance type</caption>
          <NumbersHead of="Type" titles={LINE_TITLES} />
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
const LINE_TITLES = ["Nodes", "$/h", "On demand", "Saved"];

interface PastCostProps {
  readonly past: PastOverview | undefined;
  readonly days: number;
  readonly go: Go;
}

/** A time that is past: what it cost, what it would have cost, and what was saved. */
function PastCost({ past, days, go }: PastCostProps): JSX.Element {
  const last = past?.costs.at(-1);
  const timeText = days === 1 ? clock : dated;
  return (
    <article class="card">
      <header>
        <SpanChoice days={days} go={go} />
        <span class="push number strong">{past === undefined ? "" : money(past.dollars)}</span>
      </header>
      {past === undefined ? (
        <p class="empty" role="status">
          Reading the history …
        </p>
      ) : (
        <>
          <p class="faint">
            {counted(past.launched, "node")} launched, {past.ended} ended, {past.interruptions} interrupted by EC2
          </p>
          <dl class="savings">
            <div>
              <dt>On demand</dt>
              <dd>{money(past.onDemandDollars)}</dd>
            </div>
            <div>
              <dt>Saved by spot</dt>
              <dd>{money(past.savedBySpot)}</dd>
            </div>
            <div>
              <dt>Saved by consolidation</dt>
              <dd>
                {money(past.savedByConsolidation)}{" "}
                <span class="faint">
                  {counted(past.consolidations, "command")}
                  {past.consolidations > 0 && `; each saving counts for a day at most`}
                </span>
              </dd>
            </div>
          </dl>
          <Chart
            points={last === undefined || last.at >= past.until ? past.costs : [...past.costs, { ...last, at: past.until }]}
            height={180}
            timeText={timeText}
          />
          {past.pools.length > 0 && (
            <table class="plain-table">
              <caption>In this time, by NodePool</caption>
              <NumbersHead of="NodePool" titles={["Node hours", "Cost", "On demand", "Saved"]} />
              <tbody>
                {past.pools.map(({ nodePool, nodeHours, dollars, onDemandDollars }) => (
                  <tr key={nodePool}>
                    <th scope="row">{nodePool || "none"}</th>
                    <td class="number">{nodeHours.toLocaleString("en-US", { maximumFractionDigits: 1 })}</td>
                    <td class="number">{money(dollars)}</td>
                    <td class="number faint">{money(onDemandDollars)}</td>
                    <td class="number">
                      {onDemandDollars - dollars > 0.00005 ? percent((onDemandDollars - dollars) / onDemandDollars) : "–"}
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
          )}
        </>
      )}
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
