import { HOSTNAME, ZONE } from "#core/model/labels.ts";
import type { PlacementKind } from "#core/scheduling/packing/demand.ts";
import { rareResources } from "#core/scheduling/packing/demand.ts";
import { type NodeOption, offeringGroupsFor } from "#core/scheduling/packing/offering-groups.ts";
import type { PodData } from "#core/scheduling/problem/pod-class.ts";
import type { SchedulingProblem } from "#core/scheduling/problem/problem.ts";
import { lines, solveModel } from "./highs.ts";
import { zonesOf } from "./lower-bound.ts";

/** The cheapest plan of a problem without nodes. */
export interface ExactCover {
  /** USD per hour: what the cheapest plan costs, as the solver values plans. */
  readonly cost: number;
  /** False when the search ended before it was sure that no plan costs less. */
  readonly isProven: boolean;
  /** The configuration linear program: whole pods on divisible nodes, USD per hour. */
  readonly configurationBound: number;
  /** Number of configurations: contents of a node that hold no pod less than the node's price pays for. */
  readonly configurations: number;
  readonly nodes: readonly CoverNode[];
}

/** Nodes of the cheapest plan. */
export interface CoverNode {
  readonly count: number;
  readonly type: string;
  /** Pods by class index, with the zone where the class is spread over zones. */
  readonly pods: Readonly<Record<string, number>>;
  /** USD per hour of one node. */
  readonly cost: number;
}

/** Pods of one class, of one zone when the class is spread over zones. */
interface Stock {
  readonly name: string;
  readonly podData: PodData;
  readonly kind: number;
  /** The most pods that a plan may put there. */
  readonly most: number;
  /** The most pods on one host. */
  readonly perNode: number;
}

/** Contents of a node: number of pods by stock, at the price of the cheapest option that holds them. */
interface Configuration {
  readonly counts: readonly (readonly [stock: number, pods: number])[];
  readonly option: NodeOption;
  readonly type: string;
  readonly cost: number;
}

/** Configurations of one offering group that are enumerated at most. */
const MAX_CONTENTS = 2_000_000;
/** The integer program ends after so many nodes of its search tree; its optimum is not proven then. */
const MAX_TREE_NODES = 20_000;
/** Also after so long, s, of this process. */
const TIME_LIMIT = 60;
/** The model counts in thousandths of a USD, because solvers are most precise with numbers around 1. */
const SCALE = 1000;

/**
 * Solves a provisioning problem exactly, as a set covering problem over node configurations (Gilmore and Gomory 1961):
 * each configuration is a way to fill a node, at the price of the cheapest instance type that holds it. Understands
 * node selectors, hard spreads over zones (maxSkew 1) and rules about hosts that count a class's own pods. Limits,
 * minValues, volumes, ports and rules between classes are not understood. `known` is the cost of some plan:
 * configurations that no cheaper plan can have (by their reduced cost) are left out of the integer program.
 */
export async function exactCover(problem: SchedulingProblem, known: number): Promise<ExactCover> {
  const kinds: PlacementKind[] = [];
  const stocks: Stock[] = [];
  /** Rows of the model: each class's pods, and of a spread class the number in each zone. */
  const rows: { readonly name: string; readonly stocks: readonly number[]; readonly pods: number; readonly extra?: number }[] = [];
  for (const { index, pods } of problem.classes) {
    const podData = problem.relaxations[index]?.[0];
    if (podData === undefined) continue;
    const add = (name: string, most: number, zone?: string): number => {
      const set = zone === undefined ? podData.set : problem.sets.join(podData.set, problem.sets.oneOf(ZONE, [zone]));
      const sets = problem.templates.map((template) => set && problem.sets.join(template.set, set));
      const usable = problem.templates.filter((template) => sets[template.index] !== undefined);
      const kind = kinds.push({ sets, pools: usable, needs: rareResources(problem.axis, podData.vector) }) - 1;
      return stocks.push({ name, podData, kind, most, perNode: perNodeOf(podData) }) - 1;
    };
    const zones = zonesOf(podData);
    const each = zones.length === 0 ? 0 : Math.floor(pods.length / zones.length);
    const extra = pods.length - each * zones.length;
    if (zones.length === 0) rows.push({ name: `c${index}`, stocks: [add(`${index}`, pods.length)], pods: pods.length });
    else {
      const own = zones.map((zone) => add(`${index}@${zone}`, each + (extra > 0 ? 1 : 0), zone));
      rows.push({ name: `c${index}`, stocks: own, pods: each, extra });
    }
  }
  const configurations = offeringGroupsFor(kinds, problem.axis.names.length, problem.templates).groups.flatMap(
    ({ template, kinds: served, options }) => {
      const isServed = new Set(served);
      const own = stocks.flatMap(({ kind }, s) => (isServed.has(kind) ? [s] : []));
      return configurationsOf(stocks, own, options, (type) => template.table.types[type]?.name ?? "");
    },
  );
  const relaxed = await solveModel(modelOf(rows, stocks, configurations, false));
  if (relaxed.Status !== "Optimal") throw new Error(`the configuration linear program ended as ${relaxed.Status}`);
  const configurationBound = relaxed.ObjectiveValue / SCALE;
  const columns = relaxed.Columns as Readonly<Record<string, { readonly Dual: number }>>;
  const room = (known - configurationBound) * SCALE + 1e-4;
  const kept = configurations.filter((_, x) => (columns[`x${x}`]?.Dual ?? 0) <= room);
  const solution = await solveModel(modelOf(rows, stocks, kept, true), {
    mip_rel_gap: 0,
    mip_abs_gap: 1e-5,
    mip_max_nodes: MAX_TREE_NODES,
    time_limit: TIME_LIMIT,
  });
  const used = kept.flatMap((configuration, x) => {
    const count = Math.round((solution.Columns[`x${x}`] as { Primal?: number } | undefined)?.Primal ?? 0);
    return count > 0 ? [{ count, configuration }] : [];
  });
  const isProven = solution.Status === "Optimal";
  return {
    cost: isProven
      ? used.reduce((sum, { count, configuration }) => sum + count * configuration.cost, 0)
      : Math.min(known, solution.ObjectiveValue / SCALE),
    isProven,
    configurationBound,
    configurations: configurations.length,
    nodes: used.map(({ count, configuration: { counts, type, cost } }) => ({
      count,
      type,
      cost,
      pods: Object.fromEntries(counts.map(([s, pods]) => [stocks[s]?.name ?? "", pods])),
    })),
  };
}

/** How many pods of a class one new host may have. */
function perNodeOf(podData: PodData): number {
  return Math.min(
    ...podData.hosts.map((group) => {
      if (group.key !== HOSTNAME || !podData.self.has(group)) return Number.POSITIVE_INFINITY;
      return group.kind === "spread" ? group.maxSkew : group.kind === "affinity" ? Number.POSITIVE_INFINITY : 1;
    }),
    Number.POSITIVE_INFINITY,
  );
}

/**
 * The contents that nodes of some options can have, without those to which a pod can be added at the same price: a plan
 * may leave room on a node, so they are not needed.
 */
function configurationsOf(
  stocks: readonly Stock[],
  own: readonly number[],
  options: readonly NodeOption[],
  nameOf: (type: number) => string,
): readonly Configuration[] {
  const byCost = options.toSorted((a, b) => a.price + a.nodeCost - b.price - b.nodeCost);
  const vectors = own.map((s) => stocks[s]?.podData.vector ?? new Float64Array());
  const caps = own.map((s) => Math.min(stocks[s]?.most ?? 0, stocks[s]?.perNode ?? 0));
  const strides = caps.map((_, i) => caps.slice(0, i).reduce((product, cap) => product * (cap + 1), 1));
  const size = caps.reduce((product, cap) => product * (cap + 1), 1);
  if (size > MAX_CONTENTS) throw new Error(`${size} contents of a node are too many to enumerate`);
  /** By contents: the cheapest option with room for them, -1 without one. */
  const cheapest = new Int32Array(size).fill(-1);
  const need = new Float64Array(options[0]?.room.length ?? 0);
  const visit = (i: number, at: number, from: number): void => {
    const option = byCost.findIndex(({ room }, o) => o >= from && need.every((amount, r) => amount <= (room[r] ?? 0)));
    if (option < 0) return;
    if (i === own.length) {
      cheapest[at] = option;
      return;
    }
    const vector = vectors[i] ?? need;
    let taken = 0;
    for (; taken <= (caps[i] ?? 0); taken++) {
      visit(i + 1, at + taken * (strides[i] ?? 0), option);
      vector.forEach((amount, r) => {
        need[r] = (need[r] ?? 0) + amount;
      });
    }
    vector.forEach((amount, r) => {
      need[r] = (need[r] ?? 0) - taken * amount;
    });
  };
  visit(0, 0, 0);
  const costOf = (o: number): number => (o < 0 ? Number.POSITIVE_INFINITY : (byCost[o]?.price ?? 0) + (byCost[o]?.nodeCost ?? 0));
  const configurations: Configuration[] = [];
  for (let at = 1; at < size; at++) {
    const o = cheapest[at] ?? -1;
    const option = byCost[o];
    if (option === undefined) continue;
    const counts = caps.map((cap, i) => Math.floor(at / (strides[i] ?? 1)) % (cap + 1));
    const isFull = counts.every((n, i) => n === caps[i] || costOf(cheapest[at + (strides[i] ?? 0)] ?? -1) > costOf(o));
    if (!isFull) continue;
    configurations.push({
      counts: counts.flatMap((n, i) => (n > 0 ? [[own[i] ?? -1, n] as const] : [])),
      option,
      type: nameOf(option.type),
      cost: costOf(o),
    });
  }
  return configurations;
}

/**
 * The model in the LP format: `x` are numbers of nodes by configuration, `b` says in which zones a spread has one pod
 * more.
 */
function modelOf(
  rows: readonly { readonly name: string; readonly stocks: readonly number[]; readonly pods: number; readonly extra?: number }[],
  stocks: readonly Stock[],
  configurations: readonly Configuration[],
  isInteger: boolean,
): string {
  const terms = stocks.map((): string[] => []);
  configurations.forEach(({ counts }, x) => {
    for (const [s, pods] of counts) terms[s]?.push(`${pods} x${x}`);
  });
  const extras = rows.flatMap(({ stocks: own, extra = 0 }) => (extra > 0 ? own.map((s) => `b${s}`) : []));
  const covers = rows.flatMap(({ name, stocks: own, pods, extra = 0 }) => [
    ...own.flatMap((s) => {
      if (pods === 0 && extra === 0) return [];
      return [`p${s}: ${lines(terms[s] ?? [], " + ")}${extra > 0 ? ` - b${s}` : ""} >= ${pods}`];
    }),
    ...(extra > 0 ? [`${name}: ${own.map((s) => `b${s}`).join(" + ")} = ${extra}`] : []),
  ]);
  return [
    "Minimize",
    `cost: ${lines(
      configurations.map(({ cost }, x) => `${cost * SCALE} x${x}`),
      " + ",
    )}`,
    "Subject To",
    ...covers,
    "Bounds",
    ...extras.map((name) => `0 <= ${name} <= 1`),
    ...(isInteger ? ["General", lines([...configurations.map((_, x) => `x${x}`), ...extras], " ")] : []),
    "End",
  ].join("\n");
}
