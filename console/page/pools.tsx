import type { JSX } from "preact";
import type { Budget, ClusterOverview, PoolOverview } from "#core/insight/overview/types.ts";
import { amount, counted, duration, money, monthly, percent } from "./format.ts";
import { Badge } from "./parts.tsx";
import type { Go } from "./route.ts";

/** The NodePools, with limits, budgets and cost. */
export function Pools({ overview, go }: { readonly overview: ClusterOverview; readonly go: Go }): JSX.Element {
  const { nodePools, at } = overview;
  if (nodePools.length === 0) return <p class="empty">There is no NodePool.</p>;
  return (
    <section class="cards" aria-label="NodePools">
      {nodePools.map((pool) => (
        <Pool key={pool.name} pool={pool} at={at} go={go} />
      ))}
    </section>
  );
}

function Pool({ pool, at, go }: { readonly pool: PoolOverview; readonly at: number; readonly go: Go }): JSX.Element {
  const { name, nodes, cost, problem, usage, budgets, weight, replicas, instanceTypes } = pool;
  const saving = cost.onDemandPerHour - cost.perHour;
  return (
    <article class="card">
      <header>
        <h3>{name}</h3>
        <button type="button" class="link" onClick={() => go({ section: "nodes", params: { q: `pool:${name}`, node: "" } }, "push")}>
          {counted(nodes, "node")}
        </button>
        <span class="push number strong">{money(cost.perHour)}/h</span>
      </header>
      {problem !== undefined && (
        <p class="problem">
          <Badge kind="left">not usable</Badge> NodePool {name} {problem}
        </p>
      )}
      <p class="faint">
        {counted(instanceTypes, "instance type")}
        {weight > 1 && `, weight ${weight}`}
        {replicas !== undefined && `, ${counted(replicas, "replica")}`}, {monthly(cost.perHour)}
        {saving > 0.00005 && `, ${percent(saving / cost.onDemandPerHour)} below on demand (${money(cost.onDemandPerHour)}/h)`}
        {cost.unpriced > 0 && `, ${counted(cost.unpriced, "node")} of unknown price`}
      </p>
      <ul class="rooms">
        {usage.map(({ name: resource, used, limit }) => (
          <li key={resource}>
            <span>{resource}</span>
            <span class="bar-track" aria-hidden="true">
              <span class="bar-fill" style={{ width: `${limit === null || limit === 0 ? 0 : Math.min(100, (100 * used) / limit)}%` }} />
            </span>
            <span class="number">
              {amount(used, resource)}
              {limit === null ? ", no limit" : ` of ${amount(limit, resource)}`}
            </span>
          </li>
        ))}
      </ul>
      <table class="budgets">
        <caption>
          {pool.consolidationPolicy} after {pool.consolidateAfter}; nodes that may be disrupted
        </caption>
        <thead>
          <tr>
            <th scope="col">Reason</th>
            <th scope="col">Budget</th>
            <th scope="col" class="number">
              Under way
            </th>
            <th scope="col" class="number">
              Now
            </th>
          </tr>
        </thead>
        <tbody>
          {budgets.map((budget) => (
            <BudgetRow key={budget.reason} budget={budget} at={at} />
          ))}
        </tbody>
      </table>
    </article>
  );
}

function BudgetRow({ budget, at }: { readonly budget: Budget; readonly at: number }): JSX.Element {
  const { reason, text, disrupting, allowed, changesAt } = budget;
  return (
    <tr>
      <th scope="row">{reason}</th>
      <td>
        {text}
        {changesAt !== undefined && <span class="faint"> changes in {duration(changesAt - at)}</span>}
      </td>
      <td class="number">{disrupting}</td>
      <td class="number">{allowed === null ? "any" : `${allowed} of ${budget.total}`}</td>
    </tr>
  );
}
