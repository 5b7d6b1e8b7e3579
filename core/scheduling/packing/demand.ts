import { HOSTNAME, WELL_KNOWN_LABELS, ZONE } from "../../model/labels.ts";
import { untolerated } from "../../pods/taints.ts";
import { canonical, type Requirement } from "../../requirements/requirement.ts";
import type { Requirements } from "../../requirements/requirements.ts";
import type { PodData } from "../problem/pod-class.ts";
import type { SchedulingProblem } from "../problem/problem.ts";
import type { Template } from "../problem/template.ts";
import type { TopologyState } from "../problem/topology-state.ts";
import type { TopologyGroup } from "../rules/topology-group.ts";
import { isEmpty } from "../tables/bitset.ts";
import type { RequirementSet, RequirementSets } from "../tables/requirement-sets.ts";
import type { ResourceAxis } from "../tables/resource-axis.ts";

/** Where pods may go. */
export interface PlacementKind {
  /** By index of the template: what a node of that pool must meet to take the pods; undefined where they may not go. */
  readonly sets: readonly (RequirementSet | undefined)[];
  /** The first pool that can make a node for them; nodes of the others are not made for their sake, but may have room. */
  readonly home: Template;
  /** Indexes of resources that few machines have and the pods ask for, as GPUs. */
  readonly needs: readonly number[];
  /** Labels that no machine brings and the pods want: kinds that want different ones share no node. Empty when they want none. */
  readonly custom: string;
}

const COMMON: ReadonlySet<string> = new Set(["cpu", "memory", "pods", "ephemeral-storage"]);

/** In place of a stock: for a pod that goes nowhere. */
const NONE = -1;

/** How many pods of a group a host may have for one more to come. */
export interface HostRule {
  readonly group: number;
  readonly most: number;
}

/** Pods that packing cannot tell apart: of one size, for the same nodes, with the same rules about company on a host. */
export interface Item {
  readonly kind: number;
  readonly vector: Float64Array;
  readonly rules: readonly HostRule[];
  /** Groups in which the pods count on their host. */
  readonly counting: readonly number[];
  readonly pods: number;
}

/** The pods of a run, sorted into stocks. */
export interface Demand {
  readonly kinds: readonly PlacementKind[];
  readonly items: readonly Item[];
  /** By class, the stock of each of its pods in turn, -1 for none; undefined for classes whose places depend on others too much to be foreseen. */
  readonly itemOfPod: readonly (Int32Array | undefined)[];
}

/**
 * Sorts the pods that are left of each class into stocks. Pods that must spread over zones are shared out among them beforehand, cheapest first, and pods
 * that must stay together are given the cheapest zone: whether that can be done is decided when they are placed.
 */
export function demandOf(problem: SchedulingProblem, left: readonly number[], topology: TopologyState): Demand {
  const kinds: PlacementKind[] = [];
  const items: (Item & { pods: number })[] = [];
  const kindIds = new Map<string, number>();
  const itemIds = new Map<string, number>();
  const itemOf = (home: Template, set: RequirementSet, podData: PodData): number => {
    const tolerations = podData.tolerations.length > 0 ? JSON.stringify(podData.tolerations) : "";
    const needs = rareResources(problem.axis, podData.vector);
    const kindText = `${home.index} ${set.id} ${needs.join()} ${tolerations}`;
    const kind =
      kindIds.get(kindText) ??
      kinds.push({ sets: setsOf(problem, set, podData), home, needs, custom: customLabels(set.requirements, home) }) - 1;
    kindIds.set(kindText, kind);
    const rules = podData.hosts.map((group) => ({ group: group.index, most: group.kind === "spread" ? mostOnHost(group, podData) : 0 }));
    const counting = podData.counting.flatMap(({ key, index }) => (key === HOSTNAME ? [index] : []));
    const text = `${kind}/${podData.vector.join()}/${rules.map(({ group, most }) => `${group}:${most}`).join()}/${counting.join()}`;
    const item = itemIds.get(text) ?? items.push({ kind, vector: podData.vector, rules, counting, pods: 0 }) - 1;
    itemIds.set(text, item);
    return item;
  };
  const itemOfPod = problem.classes.map(({ index }) => {
    const pods = left[index] ?? 0;
    const podData = problem.relaxations[index]?.[0];
    const start = pods > 0 && podData !== undefined && isForeseeable(podData) ? startOf(problem, podData) : undefined;
    if (podData === undefined || start === undefined) return undefined;
    const { home, set } = start;
    const itemIndexes = new Int32Array(pods);
    const group = podData.areas.find((area) => podData.self.has(area));
    if (group === undefined) itemIndexes.fill(itemOf(home, set, podData));
    else {
      const zones = zonesFor(problem.sets, home, set, podData, topology.counts[group.index] ?? new Map());
      if (zones.length === 0) return undefined;
      const bySet = new Map<RequirementSet, number>();
      shareOut(zones, group, itemIndexes, (zone) => {
        const item = bySet.get(zone.set) ?? itemOf(home, zone.set, podData);
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
  return { kinds, items, itemOfPod };
}

/** Whether it can be said beforehand which places suit: zones and hosts may matter, as far as the pods' own kind goes. */
function isForeseeable(podData: PodData): boolean {
  if (podData.contradiction !== undefined || !podData.acceptsNewHost || podData.class.ports.length > 0 || podData.volumeSets.length > 1)
    return false;
  if ((podData.class.example.spec.resourceClaims ?? []).length > 0) return false;
  if (podData.hosts.some(({ kind }) => kind === "affinity")) return false;
  const own = podData.areas.filter((area) => podData.self.has(area));
  return own.length <= 1 && podData.areas.every(({ key, kind }) => key === ZONE && (kind === "spread" || kind === "affinity"));
}

/** The first pool that can make a node for the pod, and what the pod wants of nodes. */
function startOf(
  { templates, sets }: SchedulingProblem,
  podData: PodData,
): { readonly home: Template; readonly set: RequirementSet } | undefined {
  const [volumes] = podData.volumeSets;
  const set = volumes === undefined ? podData.set : sets.join(podData.set, volumes);
  if (set === undefined) return undefined;
  for (const home of templates) {
    const joined = untolerated(home.taints, podData.tolerations) === undefined ? sets.join(home.set, set) : undefined;
    if (joined !== undefined && home.frontier(joined).first(podData.vector, 0) >= 0) return { home, set };
  }
  return undefined;
}

function setsOf({ templates, sets }: SchedulingProblem, set: RequirementSet, podData: PodData): PlacementKind["sets"] {
  return templates.map((template) =>
    untolerated(template.taints, podData.tolerations) === undefined ? sets.join(template.set, set) : undefined,
  );
}

function mostOnHost(group: TopologyGroup, podData: PodData): number {
  return group.maxSkew - (podData.self.has(group) ? 1 : 0);
}

interface Zone {
  readonly set: RequirementSet;
  readonly price: number;
  pods: number;
}

/** Zones in which the pod finds a machine, the one where its share of a machine costs least first. */
function zonesFor(
  sets: RequirementSets,
  home: Template,
  set: RequirementSet,
  podData: PodData,
  counts: ReadonlyMap<string, number>,
): Zone[] {
  return [...counts]
    .flatMap(([name, pods]) => {
      const there = sets.join(set, sets.oneOf(ZONE, [name]));
      const joined = there && sets.join(home.set, there);
      if (there === undefined || joined === undefined || isEmpty(home.table.admitted(joined))) return [];
      const price = home.frontier(joined).share(podData.vector);
      return price === Number.POSITIVE_INFINITY ? [] : [{ name, set: there, price, pods }];
    })
    .sort((a, b) => a.price - b.price || (a.name < b.name ? -1 : 1));
}

/** One pod after another goes to the cheapest zone that the skew allows; pods that belong together all go where the first is, or would be. */
function shareOut(zones: readonly Zone[], { kind, maxSkew }: TopologyGroup, itemIndexes: Int32Array, itemIn: (zone: Zone) => number): void {
  for (let i = 0; i < itemIndexes.length; i++) {
    const least = Math.min(...zones.map(({ pods }) => pods));
    const zone =
      kind === "spread" ? zones.find(({ pods }) => pods + 1 - least <= maxSkew) : (zones.find(({ pods }) => pods > 0) ?? zones[0]);
    if (zone === undefined) {
      // No zone is open to a skew below 1, which the API server refuses.
      itemIndexes.fill(NONE, i);
      return;
    }
    zone.pods++;
    itemIndexes[i] = itemIn(zone);
  }
}

/** Resources that pods ask for and that not every machine has. */
export function rareResources(axis: ResourceAxis, vector: Float64Array): readonly number[] {
  return axis.names.flatMap((name, r) => ((vector[r] ?? 0) > 0 && !COMMON.has(name) ? [r] : []));
}

/** What pods want of labels that machines do not bring and the pool leaves open, as a text. */
function customLabels(wanted: Requirements, { set }: Template): string {
  return [...wanted.values()]
    .flatMap((item) => (WELL_KNOWN_LABELS.has(item.key) || isPinned(set.requirements.get(item.key)) ? [] : [canonical(item)]))
    .sort()
    .join("\u0003");
}

function isPinned(item: Requirement | undefined): boolean {
  return item !== undefined && !item.complement && item.values.size === 1;
}
