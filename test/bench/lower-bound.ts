import { ZONE } from "#core/model/labels.ts";
import type { Snapshot } from "#core/model/snapshot.ts";
import { type Item, type PlacementKind, rareResources } from "#core/scheduling/packing/demand.ts";
import { type NodeOption, offeringGroupsFor } from "#core/scheduling/packing/offering-groups.ts";
import { nodeViews } from "#core/scheduling/problem/node-view.ts";
import { pendingPods } from "#core/scheduling/problem/pending-pods.ts";
import type { PodData } from "#core/scheduling/problem/pod-class.ts";
import { problemFor, type SchedulingProblem } from "#core/scheduling/problem/problem.ts";
import { lines, solveModel } from "./highs.ts";

/** Lower bounds of the price of any plan for the pending pods, USD per hour. */
export interface LowerBounds {
  /** The linear program over pods × types: pods and nodes are divisible, and rules between pods are ignored. */
  readonly plain: number;
  /** The same with hard topology spreads over zones: each zone gets as many pods as a skew of 1 demands. */
  readonly spread: number;
}

/** Scale of milli-units, so that the coefficients are close to 1, where solvers are most precise. */
const UNIT = 1e6;

/**
 * Lower bounds of the price of any plan: the linear program that covers pods with nodes, over the same catalogue,
 * daemons and NodePool requirements as the solver. A real plan also pays for whole pods and whole nodes. `nodeValue`
 * says what a node counts; without it, the price of its instance.
 */
export async function lowerBounds(snapshot: Snapshot, nodeValue: NodeValue = ({ price }) => price): Promise<LowerBounds> {
  const problem = problemOf(snapshot);
  return { plain: await bound(problem, () => [], nodeValue), spread: await bound(problem, zonesOf, nodeValue) };
}

/** What a node counts, USD per hour. */
type NodeValue = (option: NodeOption) => number;

/** The problem that `solve` makes of a snapshot with pending pods only. */
export function problemOf(snapshot: Snapshot): SchedulingProblem {
  return problemFor(snapshot, nodeViews(snapshot), pendingPods(snapshot).pods, {
    policy: "Respect",
    minValuesPolicy: "Strict",
    reservedMode: "strict",
    excludeNodes: new Set(),
    settling: new Set(),
    moved: new Set(),
    virtual: new Set(),
  });
}

/** The zones over which a pod class must spread evenly; empty without such a constraint. */
export function zonesOf(podData: PodData): readonly string[] {
  const group = podData.areas.find(({ key, kind, maxSkew }) => key === ZONE && kind === "spread" && maxSkew === 1);
  return group !== undefined && podData.hard.has(group) && podData.self.has(group) ? [...group.domains.keys()] : [];
}

async function bound(problem: SchedulingProblem, zonesFor: (podData: PodData) => readonly string[], nodeValue: NodeValue): Promise<number> {
  const kinds: PlacementKind[] = [];
  const stocks = new Map<string, Item & { pods: number }>();
  const kindIds = new Map<string, number>();
  const add = (podData: PodData, pods: number, zone?: string): void => {
    const set = zone === undefined ? podData.set : problem.sets.join(podData.set, problem.sets.oneOf(ZONE, [zone]));
    if (set === undefined || pods === 0) return;
    const sets = problem.templates.map((template) => problem.sets.join(template.set, set));
    const firstPool = problem.templates.find(({ index }) => sets[index] !== undefined);
    if (firstPool === undefined) return;
    const needs = rareResources(problem.axis, podData.vector);
    const text = `${set.id} ${needs.join()}`;
    const kind = kindIds.get(text) ?? kinds.push({ sets, pools: [firstPool], needs }) - 1;
    kindIds.set(text, kind);
    const key = `${kind}/${podData.vector.join()}`;
    const known = stocks.get(key);
    if (known === undefined) stocks.set(key, { kind, vector: podData.vector, rules: [], counting: [], pods });
    else known.pods += pods;
  };
  for (const { index, pods } of problem.classes) {
    // The last relaxation step has the fewest constraints, and a plan may use it.
    const podData = problem.relaxations[index]?.at(-1);
    if (podData === undefined || podData.contradiction !== undefined) continue;
    const zones = zonesFor(podData);
    const each = zones.length === 0 ? 0 : Math.floor(pods.length / zones.length);
    for (const zone of zones) add(podData, each, zone);
    add(podData, pods.length - each * zones.length);
  }
  return cheapestCover(problem, kinds, [...stocks.values()], nodeValue);
}

/** The cheapest divisible nodes that hold the divisible pods, each only where a whole pod fits; solved by HiGHS. */
async function cheapestCover(
  problem: SchedulingProblem,
  kinds: readonly PlacementKind[],
  stocks: readonly Item[],
  nodeValue: NodeValue,
): Promise<number> {
  const { groups, areAll } = offeringGroupsFor(kinds, problem.axis.names.length, problem.templates);
  if (!areAll) throw new Error("the pods use too many labels in too many ways for a lower bound");
  const machines = groups.flatMap(({ kinds: served, options }) =>
    worthHaving(options.map((option) => ({ ...option, price: nodeValue(option) }))).map((option) => ({
      ...option,
      served: new Set(served),
    })),
  );
  // One row for each node and resource: its capacity and the use of the pods.
  const rows = machines.map(({ room }, m) => Array.from(room, (amount) => (amount > 0 ? [`${amount / UNIT} m${m}`] : [])));
  const demands = stocks.flatMap(({ kind, vector, pods }, s) => {
    const usable = machines.flatMap(({ room, served }, m) =>
      served.has(kind) && vector.every((amount, r) => amount <= (room[r] ?? 0)) ? [m] : [],
    );
    for (const m of usable) {
      vector.forEach((amount, r) => {
        if (amount > 0) rows[m]?.[r]?.push(`- ${amount / UNIT} p${s}_${m}`);
      });
    }
    // Pods that fit no offering cost nothing.
    return usable.length === 0
      ? []
      : [
          `d${s}: ${lines(
            usable.map((m) => `p${s}_${m}`),
            " + ",
          )} = ${pods}`,
        ];
  });
  const rooms = rows.flatMap((byResource, m) =>
    byResource.flatMap((terms, r) => (terms.length > 1 ? [`r${m}_${r}: ${lines(terms, " ")} >= 0`] : [])),
  );
  const prices = machines.map(({ price }, m) => `${price} m${m}`);
  const model = ["Minimize", `cost: ${lines(prices, " + ")}`, "Subject To", ...demands, ...rooms, "End"].join("\n");
  const solution = await solveModel(model);
  if (solution.Status !== "Optimal") throw new Error(`the lower bound's linear program ended as ${solution.Status}`);
  return solution.ObjectiveValue;
}

/** The options without those that another option dominates in resources per dollar and in size. */
function worthHaving(options: readonly NodeOption[]): readonly NodeOption[] {
  const kept: NodeOption[] = [];
  for (const option of [...options].sort((a, b) => b.price - a.price)) {
    const isOutdone = kept.some(({ room, price }) =>
      option.room.every((amount, r) => amount <= (room[r] ?? 0) && amount * price <= (room[r] ?? 0) * option.price),
    );
    if (!isOutdone) kept.push(option);
  }
  return kept;
}
