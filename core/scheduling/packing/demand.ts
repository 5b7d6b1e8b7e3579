import { HOSTNAME, ZONE } from "../../model/labels.ts";
import { heaviestPoolsFor } from "../problem/heaviest-pools.ts";
import type { PodData } from "../problem/pod-class.ts";
import type { SchedulingProblem } from "../problem/problem.ts";
import type { Template } from "../problem/template.ts";
import type { TopologyState } from "../problem/topology-state.ts";
import type { TopologyGroup } from "../rules/topology-group.ts";
import type { RequirementSet, RequirementSets } from "../tables/requirement-sets.ts";
import type { ResourceAxis } from "../tables/resource-axis.ts";
import { type MergedRequirements, mergedRequirements } from "./merged-kinds.ts";

/** Which nodes a pod may use: pods of one kind may use the same nodes. */
export interface PlacementKind {
  /**
   * By template index: the requirements that pods of this kind add to a node of that pool; undefined for pools that
   * are not in `pools`.
   */
  readonly sets: readonly (RequirementSet | undefined)[];
  /** The heaviest pools that can launch a node for the pods; they have one weight. The pods use no other pools. */
  readonly pools: readonly Template[];
  /** Indexes of requested resources that only few instance types have, such as GPUs. */
  readonly needs: readonly number[];
}

/**
 * Kinds that packing distinguishes. The work of packing grows with kinds × offering groups × items, and with pods that
 * are all different that is the third power of their number. `npm run -s bench` and the given scenarios have 26 kinds
 * at most.
 */
export const MAX_KINDS = 40;

const COMMON_RESOURCES: ReadonlySet<string> = new Set(["cpu", "memory", "pods", "ephemeral-storage"]);

/** In place of an item index: the pod has no zone to go to. */
const NO_ITEM = -1;

/** A limit on pods of a topology group on one host. */
interface HostRule {
  /** Index of the TopologyGroup. */
  readonly group: number;
  /** Number of pods of the group that the host may have before one more of the item's pods is added. */
  readonly maxPresent: number;
}

/**
 * An item of bin packing: pods that packing cannot distinguish. They have one size, may use the same nodes and have the
 * same topology rules about their host.
 */
export interface Item {
  /** Index of the PlacementKind. */
  readonly kind: number;
  /** Requests of one pod by resource, in milli-units. */
  readonly vector: Float64Array;
  readonly rules: readonly HostRule[];
  /** Indexes of the topology groups that count these pods on their host. */
  readonly counting: readonly number[];
  /** Number of pods. */
  readonly pods: number;
}

/**
 * The demand of a bin packing problem: the pods of a run as items. For example, 8 pods of 1 cpu and 4 pods of 4 cpu
 * without any constraint are one kind and two items:
 *
 *     items: [{ kind: 0, vector: [1000, …], pods: 8, … }, { kind: 0, vector: [4000, …], pods: 4, … }]
 */
export interface Demand {
  readonly kinds: readonly PlacementKind[];
  readonly items: readonly Item[];
  /**
   * By class index, the item of each of its pods in turn, -1 for a pod without a zone. Undefined for a class that
   * packing leaves out, because its places depend too much on other pods.
   */
  readonly itemOfPod: readonly (Int32Array | undefined)[];
  /**
   * Zones among which pods were divided beforehand, by rising price for all of the pods. Another division may be
   * cheaper.
   */
  readonly forecastZones: readonly string[];
}

/**
 * Sorts the pods of each class that have no node yet into items; `left` has their number by class index. Pods that must
 * spread over zones are divided among the zones beforehand, the cheapest first; pods that must share a zone get the
 * cheapest one. This is a forecast: placing the pods decides whether the zones really suit. Pools of `without` launch
 * no nodes. Demands of more than MAX_KINDS kinds are simplified: kinds are merged by the types that they allow, and
 * then the kinds with the fewest pods are left out.
 */
export function demandOf(
  problem: SchedulingProblem,
  left: readonly number[],
  topology: TopologyState,
  without?: ReadonlySet<Template>,
  firstZones: readonly string[] = [],
): Demand {
  const rules = { without, firstZones };
  // Pods that word the same values differently are one kind.
  const joined = (pools: readonly Template[], set: RequirementSet): string =>
    setsOf(problem, pools, set)
      .map((own) => own?.id ?? "")
      .join(" ");
  const exact = demandWith(problem, left, topology, rules, (pools, set) => ({ set, text: joined(pools, set) }), MAX_KINDS);
  const merged = (): Demand | undefined =>
    demandWith(problem, left, topology, rules, (pools, set) => mergedRequirements(problem, pools, set));
  return exact ?? withoutRareKinds(merged() ?? NO_DEMAND);
}

const NO_DEMAND: Demand = { kinds: [], items: [], itemOfPod: [], forecastZones: [] };

/**
 * `demandOf` where kinds are distinguished by the texts of `simplified` requirements; undefined with more than
 * `maxKinds`.
 */
function demandWith(
  problem: SchedulingProblem,
  left: readonly number[],
  topology: TopologyState,
  { without, firstZones }: { readonly without: ReadonlySet<Template> | undefined; readonly firstZones: readonly string[] },
  simplified: (pools: readonly Template[], set: RequirementSet) => MergedRequirements,
  maxKinds = Number.POSITIVE_INFINITY,
): Demand | undefined {
  const kinds: PlacementKind[] = [];
  const items: (Item & { pods: number })[] = [];
  const kindIds = new Map<string, number>();
  const itemIds = new Map<string, number>();
  const zonePrices = new Map<string, number>();
  const itemOf = (pools: readonly Template[], own: RequirementSet, podData: PodData): number => {
    const { set, text: setText } = simplified(pools, own);
    const tolerations = podData.tolerations.length > 0 ? JSON.stringify(podData.tolerations) : "";
    const needs = rareResources(problem.axis, podData.vector);
    const kindText = `${pools.map(({ index }) => index).join()} ${setText} ${needs.join()} ${tolerations}`;
    const kind = kindIds.get(kindText) ?? kinds.push({ sets: setsOf(problem, pools, set), pools, needs }) - 1;
    kindIds.set(kindText, kind);
    const rules = podData.hosts.map((group) => ({
      group: group.index,
      maxPresent: group.kind === "spread" ? maxPresentOnHost(group, podData) : 0,
    }));
    const counting = podData.counting.flatMap(({ key, index }) => (key === HOSTNAME ? [index] : []));
    const text = `${kind}/${podData.vector.join()}/${rules.map(({ group, maxPresent }) => `${group}:${maxPresent}`).join()}/${counting.join()}`;
    const item = itemIds.get(text) ?? items.push({ kind, vector: podData.vector, rules, counting, pods: 0 }) - 1;
    itemIds.set(text, item);
    return item;
  };
  const itemOfPod = problem.classes.map(({ index }) => {
    if (kinds.length > maxKinds) return undefined;
    const pods = left[index] ?? 0;
    const podData = problem.relaxations[index]?.[0];
    const start = pods > 0 && podData !== undefined && isForeseeable(podData) ? heaviestPoolsFor(problem, podData, without) : undefined;
    if (podData === undefined || start === undefined) return undefined;
    const { pools } = start;
    const { set } = simplified(pools, start.set);
    const itemIndexes = new Int32Array(pods);
    const group = podData.areas.find((area) => podData.self.has(area));
    if (group === undefined) itemIndexes.fill(itemOf(pools, set, podData));
    else {
      const zones = zonesFor(problem.sets, pools, set, podData, topology.counts[group.index] ?? new Map(), firstZones);
      if (zones.length === 0) return undefined;
      if (zones.length > 1) for (const { name, price } of zones) zonePrices.set(name, (zonePrices.get(name) ?? 0) + pods * price);
      const bySet = new Map<RequirementSet, number>();
      assignZones(zones, group, itemIndexes, (zone) => {
        const item = bySet.get(zone.set) ?? itemOf(pools, zone.set, podData);
        bySet.set(zone.set, item);
        return item;
      });
    }
    for (const item of itemIndexes) {
      const known = items[item];
      if (known !== undefined) known.pods++;
    }
    return itemIndexes;
  });
  const forecastZones = [...zonePrices].sort(([a, p], [b, q]) => p - q || (a < b ? -1 : 1)).map(([name]) => name);
  return kinds.length > maxKinds ? undefined : { kinds, items, itemOfPod, forecastZones };
}

/** A demand with only the MAX_KINDS kinds of the most pods; the classes of the others are left out. */
function withoutRareKinds(demand: Demand): Demand {
  if (demand.kinds.length <= MAX_KINDS) return demand;
  const pods = new Int32Array(demand.kinds.length);
  for (const item of demand.items) pods[item.kind] = (pods[item.kind] ?? 0) + item.pods;
  const kept = new Set([...pods.keys()].sort((a, b) => (pods[b] ?? 0) - (pods[a] ?? 0) || a - b).slice(0, MAX_KINDS));
  const newKind = new Map([...kept].sort((a, b) => a - b).map((kind, at) => [kind, at]));
  const newItem = new Map<number, number>();
  const items = demand.items.flatMap((item, at) => {
    const kind = newKind.get(item.kind);
    if (kind === undefined) return [];
    newItem.set(at, newItem.size);
    return [{ ...item, kind }];
  });
  return {
    ...demand,
    kinds: demand.kinds.filter((_, kind) => kept.has(kind)),
    items,
    itemOfPod: demand.itemOfPod.map((itemIndexes) => {
      const own = itemIndexes?.map((item) => newItem.get(item) ?? NO_ITEM);
      return own?.some((item) => item !== NO_ITEM) ? own : undefined;
    }),
  };
}

/**
 * Whether the suitable nodes are known before other pods are placed. Rules about zones and hosts are allowed as long as
 * only the pod's own kind counts in them.
 */
function isForeseeable(podData: PodData): boolean {
  if (podData.contradiction !== undefined || !podData.acceptsNewHost || podData.class.ports.length > 0 || podData.volumeSets.length > 1)
    return false;
  if ((podData.class.example.spec.resourceClaims ?? []).length > 0) return false;
  if (podData.hosts.some(({ kind }) => kind === "affinity")) return false;
  const own = podData.areas.filter((area) => podData.self.has(area));
  return own.length <= 1 && podData.areas.every(({ key, kind }) => key === ZONE && (kind === "spread" || kind === "affinity"));
}

function setsOf({ templates, sets }: SchedulingProblem, pools: readonly Template[], set: RequirementSet): PlacementKind["sets"] {
  return templates.map((template) => (pools.includes(template) ? sets.join(template.set, set) : undefined));
}

function maxPresentOnHost(group: TopologyGroup, podData: PodData): number {
  return group.maxSkew - (podData.self.has(group) ? 1 : 0);
}

interface Zone {
  readonly name: string;
  readonly set: RequirementSet;
  /** USD per hour of the pod's cheapest share of an instance type in the zone. */
  readonly price: number;
  /** Pods that the topology group counts in the zone, those of the forecast included. */
  pods: number;
}

/**
 * Zones in which some instance type has room for the pod: those of `first`, then by rising price of the pod's share of
 * a type.
 */
function zonesFor(
  sets: RequirementSets,
  pools: readonly Template[],
  set: RequirementSet,
  podData: PodData,
  counts: ReadonlyMap<string, number>,
  first: readonly string[],
): Zone[] {
  const rank = (name: string): number => (first.includes(name) ? first.indexOf(name) : first.length);
  return [...counts]
    .flatMap(([name, pods]) => {
      const there = sets.join(set, sets.oneOf(ZONE, [name]));
      if (there === undefined) return [];
      const shares = pools.flatMap((pool) => {
        const joined = sets.join(pool.set, there);
        return joined === undefined ? [] : [pool.frontier(joined).share(podData.vector)];
      });
      const price = Math.min(...shares);
      return price === Number.POSITIVE_INFINITY ? [] : [{ name, set: there, price, pods }];
    })
    .sort((a, b) => rank(a.name) - rank(b.name) || a.price - b.price || (a.name < b.name ? -1 : 1));
}

/**
 * Assigns pods to zones, one after another. A pod of a spread gets the cheapest zone that the skew allows. Pods with
 * affinity for each other get the first zone that has some of them, else the cheapest.
 */
function assignZones(
  zones: readonly Zone[],
  { kind, maxSkew }: TopologyGroup,
  itemIndexes: Int32Array,
  itemIn: (zone: Zone) => number,
): void {
  for (let i = 0; i < itemIndexes.length; i++) {
    const fewest = Math.min(...zones.map(({ pods }) => pods));
    const zone =
      kind === "spread" ? zones.find(({ pods }) => pods + 1 - fewest <= maxSkew) : (zones.find(({ pods }) => pods > 0) ?? zones[0]);
    if (zone === undefined) {
      // A maxSkew below 1 opens no zone; the API server refuses it, a snapshot may still hold it.
      itemIndexes.fill(NO_ITEM, i);
      return;
    }
    zone.pods++;
    itemIndexes[i] = itemIn(zone);
  }
}

/**
 * Zones that pods without a node require by name, those of the most pods first: pods that may choose a zone can share
 * nodes with them there.
 */
export function requiredZones({ relaxations }: SchedulingProblem, left: readonly number[]): readonly string[] {
  const pods = new Map<string, number>();
  relaxations.forEach(([podData], index) => {
    const zone = podData?.set.requirements.get(ZONE);
    const [name] = zone?.values ?? [];
    if (zone === undefined || zone.complement || zone.values.size !== 1 || name === undefined || (left[index] ?? 0) === 0) return;
    pods.set(name, (pods.get(name) ?? 0) + (left[index] ?? 0));
  });
  return [...pods].sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1)).map(([name]) => name);
}

/** Indexes of requested resources that not every instance type has. */
export function rareResources(axis: ResourceAxis, vector: Float64Array): readonly number[] {
  return axis.names.flatMap((name, r) => ((vector[r] ?? 0) > 0 && !COMMON_RESOURCES.has(name) ? [r] : []));
}
