import { ZONE } from "../../core/model/labels.ts";
import type { Snapshot } from "../../core/model/snapshot.ts";
import { has } from "../../core/requirements/requirement.ts";
import { hasBit } from "../../core/scheduling/bitset.ts";
import { nodeViews } from "../../core/scheduling/node-view.ts";
import { pendingPods } from "../../core/scheduling/pending-pods.ts";
import type { Ask } from "../../core/scheduling/pod-class.ts";
import { cellsOf } from "../../core/scheduling/recipes/market.ts";
import { type Kind, rareNeeds, type Stock } from "../../core/scheduling/recipes/supply.ts";
import { Worth } from "../../core/scheduling/recipes/worth.ts";
import { type World, worldOf } from "../../core/scheduling/world.ts";

/** Prices (USD per hour) that no plan for the pending pods can go below. */
export interface LowerBounds {
  /** Pods and machines divisible at will, rules of company left out: the linear program over pods × types. */
  readonly plain: number;
  /** The same, but a hard spread over zones puts as many pods in each zone as its skew of 1 demands. */
  readonly spread: number;
}

/** Rounds of the search: more than the solver takes, since a better worth is a higher bound. */
const ROUNDS = 12;

/**
 * Lower bounds by weak duality. The solver's own search proposes what room is worth; here that is only believed as far as it can be checked: for each offering the
 * worth of each resource is scaled so that the room of no machine is worth more than its price, and a pod then costs at least what it asks for is worth in
 * the cheapest place that it may use. Any worths give a valid bound; good ones come within a few tenths of a per cent of the program's optimum.
 */
export function lowerBounds(snapshot: Snapshot): LowerBounds {
  const { pods } = pendingPods(snapshot);
  const world = worldOf(snapshot, nodeViews(snapshot), pods, {
    policy: "Respect",
    minValuesPolicy: "Strict",
    reservedMode: "strict",
    excludeNodes: new Set(),
    settling: new Set(),
    moved: new Set(),
    virtual: new Set(),
  });
  return { plain: bound(world, () => []), spread: bound(world, zonesOf) };
}

/** Zones over which a class must spread evenly; none when it need not. */
function zonesOf(ask: Ask): readonly string[] {
  const group = ask.areas.find(({ key, kind, maxSkew }) => key === ZONE && kind === "spread" && maxSkew === 1);
  return group !== undefined && ask.hard.has(group) && ask.self.has(group) ? [...group.domains.keys()] : [];
}

function bound(world: World, zonesFor: (ask: Ask) => readonly string[]): number {
  const kinds: Kind[] = [];
  const stocks = new Map<string, Stock & { pods: number }>();
  const kindIds = new Map<string, number>();
  const add = (ask: Ask, pods: number, zone?: string): void => {
    const set = zone === undefined ? ask.set : world.sets.join(ask.set, world.sets.oneOf(ZONE, [zone]));
    if (set === undefined || pods === 0) return;
    const sets = world.templates.map((template) => world.sets.join(template.set, set));
    const home = world.templates.find(({ index }) => sets[index] !== undefined);
    if (home === undefined) return;
    const needs = rareNeeds(world.axis, ask.vector);
    const text = `${set.id} ${needs.join()}`;
    const kind = kindIds.get(text) ?? kinds.push({ sets, home, needs, custom: "" }) - 1;
    kindIds.set(text, kind);
    const key = `${kind}/${ask.vector.join()}`;
    const known = stocks.get(key);
    if (known === undefined) stocks.set(key, { kind, vector: ask.vector, rules: [], counting: [], pods });
    else known.pods += pods;
  };
  for (const { index, pods } of world.classes) {
    // The last shape wants least: a plan may come to it.
    const ask = world.asks[index]?.at(-1);
    if (ask === undefined || ask.contradiction !== undefined) continue;
    const zones = zonesFor(ask);
    const each = zones.length === 0 ? 0 : Math.floor(pods.length / zones.length);
    for (const zone of zones) add(ask, each, zone);
    add(ask, pods.length - each * zones.length);
  }
  return certified(world, kinds, [...stocks.values()]);
}

function certified(world: World, kinds: readonly Kind[], stocks: readonly Stock[]): number {
  const width = world.axis.names.length;
  const cells = cellsOf(kinds, width, world.templates);
  const proposed = new Worth(cells, stocks, kinds.length, width, ROUNDS).room;
  // Which kinds an offering serves, looked up in the catalogue itself.
  const byKinds = new Map(cells.map(({ template, kinds: served }, c) => [`${template.index}:${served.join()}`, c]));
  const worths = proposed.map((room) => Float64Array.from(room));
  const most = new Float64Array(cells.length);
  const usable = kinds.map(() => new Set<number>());
  for (const template of world.templates) {
    template.table.types.forEach(({ offerings }, t) => {
      for (const offering of offerings) {
        if (!offering.available || offering.price <= 0 || !hasBit(template.types, t)) continue;
        const served = kinds.flatMap(({ sets, needs }, kind) => {
          const set = sets[template.index];
          if (needs.some((r) => (template.room[t * width + r] ?? 0) <= 0)) return [];
          if (set === undefined || !hasBit(template.table.admitted(set), t)) return [];
          const zone = set.requirements.get(ZONE);
          const capacityType = set.requirements.get("karpenter.sh/capacity-type");
          const isFree =
            (zone === undefined || has(zone, offering.zone)) && (capacityType === undefined || has(capacityType, offering.capacityType));
          return isFree ? [kind] : [];
        });
        if (served.length === 0) continue;
        const c = byKinds.get(`${template.index}:${served.join()}`);
        if (c === undefined)
          throw new Error(`no cell for ${template.name} ${offering.zone} ${offering.capacityType}: the market leaves an offering out`);
        for (const kind of served) usable[kind]?.add(c);
        let worth = 0;
        for (let r = 0; r < width; r++) worth += Math.max(0, template.room[t * width + r] ?? 0) * (worths[c]?.[r] ?? 0);
        most[c] = Math.max(most[c] ?? 0, worth / offering.price);
      }
    });
  }
  let total = 0;
  for (const { kind, vector, pods } of stocks) {
    let least = Number.POSITIVE_INFINITY;
    for (const c of usable[kind] ?? []) {
      let worth = 0;
      for (let r = 0; r < width; r++) worth += (vector[r] ?? 0) * (worths[c]?.[r] ?? 0);
      least = Math.min(least, worth / Math.max(most[c] ?? 1, 1e-12));
    }
    // Pods that fit nowhere cost nothing.
    if (least !== Number.POSITIVE_INFINITY) total += pods * least;
  }
  return total;
}
