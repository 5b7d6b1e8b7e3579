import { WELL_KNOWN_LABELS } from "../../model/labels.ts";
import type { Resources } from "../../model/quantity.ts";
import { OFFERING_KEYS } from "../../requirements/offerings.ts";
import { incompatibility, intersectAll } from "../../requirements/requirements.ts";
import { MAX_VALUE_CHARACTERS } from "../../requirements/validation.ts";
import type { Attempt } from "../attempt.ts";
import { keepsFree } from "../problem/open-types.ts";
import type { PodData } from "../problem/pod-class.ts";
import type { Template } from "../problem/template.ts";
import { takenPort } from "../rules/host-ports.ts";
import { type Bitset, emptyBitset, fullBitset, hasBit, intersection, isEmpty, members, setBit } from "../tables/bitset.ts";
import { itemsOf, MAX_ITEMS, type RequirementSet, unwritableItem, valueCharacters } from "../tables/requirement-sets.ts";
import { conflictText, noTypeText } from "./labels.ts";
import { byShareOfLimits, limitText } from "./limits.ts";
import { minValuesText } from "./min-values.ts";
import { placesOf } from "./places.ts";
import { RoomReasons } from "./room.ts";
import { tolerationText } from "./tolerations.ts";
import { allowedDomains, NEW_HOST, type TopologyReasons } from "./topology.ts";
import { hostText, volumeText } from "./volumes.ts";

/** Why a pool cannot place a pod. */
export interface PoolVerdict {
  /** Index of the check that failed. Of a pod's alternatives, the one that failed last is explained. */
  readonly stage: number;
  readonly text: string;
  /** No check failed. */
  readonly isOpen?: true;
}

/** The first check that asks which offerings are available. */
export const FIRST_OF_OFFERINGS = 2;

/**
 * The checks of a pool's template for a pod, one after another. What classes of pods share is computed once for each
 * index of a template, so another version of a template needs checks of its own.
 */
export class PoolChecks {
  readonly #attempt: Attempt;
  readonly #room: RoomReasons;
  readonly #topology: TopologyReasons;
  readonly #likelyKey: (key: string) => string | undefined;
  /** By template and requirement set: the pool's types under the set. */
  readonly #types = new Map<string, Bitset>();
  /** By template and requirement set: the types by their share of the pool's limits. */
  readonly #byLimits = new Map<string, readonly number[]>();

  constructor(attempt: Attempt, topology: TopologyReasons, likelyKey: (key: string) => string | undefined) {
    this.#attempt = attempt;
    this.#room = new RoomReasons(attempt.problem);
    this.#topology = topology;
    this.#likelyKey = likelyKey;
  }

  /**
   * The first check that fails, in the order in which a claim checks a pod; what higher limits would not help comes
   * before limits.
   */
  why(template: Template, podData: PodData): PoolVerdict {
    const stages = [
      () => tolerationText(template, podData),
      () => this.#labels(template, podData),
      () => this.#noType(template, podData),
      () => this.#roomFor(template, podData),
      () => this.#volumes(template, podData),
      () => this.#ports(template, podData),
      () => this.#limits(template, podData),
      () => this.#topologyText(template, podData),
      () => this.#minValues(template, podData),
    ];
    for (const [stage, check] of stages.entries()) {
      const text = check();
      if (text !== undefined) return { stage, text };
    }
    return {
      stage: stages.length,
      isOpen: true,
      text: "no node suits all of the pod's demands at once: places, company, limits and minValues, each of which could be met by itself",
    };
  }

  #labels(template: Template, podData: PodData): string | undefined {
    if (!podData.acceptsNewHost) return hostText(podData);
    const conflict = incompatibility(template.set.requirements, podData.set.requirements, WELL_KNOWN_LABELS);
    if (conflict !== undefined) return conflictText(conflict, this.#likelyKey);
    const problem = unwritableItem(podData.set.requirements);
    if (problem !== undefined) return problem;
    const own = itemsOf(template.set.requirements);
    if (own > MAX_ITEMS)
      return `it has ${own} labels and requirements with its class's, and a NodeClaim takes ${MAX_ITEMS} beside its own; remove ${own - MAX_ITEMS}`;
    const both = intersectAll(template.set.requirements, podData.set.requirements);
    const items = itemsOf(both);
    if (items > MAX_ITEMS)
      return `the pod and the NodePool ask for ${items} labels together, and a NodeClaim takes ${MAX_ITEMS} beside its own`;
    const characters = valueCharacters(both);
    return characters <= MAX_VALUE_CHARACTERS
      ? undefined
      : `the pod and the NodePool list label values of ${characters} characters together, and a NodeClaim takes ${MAX_VALUE_CHARACTERS}`;
  }

  #noType(template: Template, podData: PodData): string | undefined {
    const { table, set, types } = template;
    const { name, kind } = template.pool.spec.template.spec.nodeClassRef;
    if (table.types.length === 0) return `its ${kind} ${name} offers no instance types; see its status`;
    if (isEmpty(types)) return `it has nothing to launch: ${noTypeText(template, set.requirements, fullBitset(table.types.length))}`;
    const joined = this.#joined(template, podData);
    if (!isEmpty(this.#typesUnder(template, joined))) return undefined;
    const wanted = [...joined.requirements].filter(([key]) => podData.set.requirements.has(key) || OFFERING_KEYS.includes(key));
    return noTypeText(template, new Map(wanted), types);
  }

  #roomFor(template: Template, podData: PodData): string | undefined {
    const joined = this.#joined(template, podData);
    return this.#isRoomy(template, joined, podData)
      ? undefined
      : this.#room.text(template, String(joined.id), this.#typesUnder(template, joined), podData);
  }

  #volumes(template: Template, podData: PodData): string | undefined {
    const { sets } = this.#attempt.problem;
    if (podData.volumeSets.length === 0) return undefined;
    const suits = podData.volumeSets.some((volumes) => {
      const joined = sets.join(this.#joined(template, podData), volumes);
      return joined !== undefined && this.#isRoomy(template, joined, podData);
    });
    if (suits) return undefined;
    return volumeText(template, podData, this.#joined(template, podData).requirements);
  }

  #ports(template: Template, podData: PodData): string | undefined {
    const { ports } = podData.class;
    if (ports.length === 0 || this.#roomy(template, podData).some((t) => keepsFree(template, t, ports))) return undefined;
    const daemons = template.daemonGroups.flatMap((group) => group.daemons);
    const taker = daemons.find((daemon) => takenPort(ports, daemon.ports) !== undefined);
    return `the pod needs host port ${takenPort(ports, taker?.ports ?? [])?.port}, which daemonset ${taker?.name} takes on its nodes; change one of them`;
  }

  #limits(template: Template, podData: PodData): string | undefined {
    const left = this.#attempt.limits.left(template);
    if (left === undefined) return undefined;
    const { id } = this.#joined(template, podData);
    const types = this.#typesUnder(template, this.#joined(template, podData));
    const within = typesWithin(template, left);
    if (this.#room.isRoomy(template, `${id} within limits`, intersection(types, within), podData)) return undefined;
    return limitText(template, left, () => {
      const key = `${template.index} ${id}`;
      const order = this.#byLimits.get(key) ?? byShareOfLimits(template, types);
      this.#byLimits.set(key, order);
      return order.find((t) => this.#room.fits(template, t, podData));
    });
  }

  #topologyText(template: Template, podData: PodData): string | undefined {
    const { topology, problem } = this.#attempt;
    for (const group of podData.hosts) {
      if (!topology.allows(group, podData, NEW_HOST)) return this.#topology.text(group, podData, [], "");
    }
    const joined = this.#joined(template, podData);
    const byPool = this.#areasText(template, podData, joined, "the pool's nodes can only be in");
    if (byPool !== undefined || podData.volumeSets.length === 0) return byPool;
    const ofVolumes = "the pod's volumes can only be used in";
    const texts = podData.volumeSets.flatMap((volumes) => {
      const there = problem.sets.join(joined, volumes);
      const isRoomy = there !== undefined && this.#isRoomy(template, there, podData);
      return isRoomy ? [this.#areasText(template, podData, there, ofVolumes)] : [];
    });
    return texts.includes(undefined) ? undefined : texts[0];
  }

  /** Which rule about areas refuses the pod on a node of a set. `confines`: what keeps the node to the set's areas. */
  #areasText(template: Template, podData: PodData, set: RequirementSet, confines: string): string | undefined {
    const { topology, problem } = this.#attempt;
    let joined = set;
    for (const group of podData.areas) {
      const domains = allowedDomains(topology, group, podData, joined.requirements);
      if (domains === "any") continue;
      const next = domains.length === 0 ? undefined : problem.sets.join(joined, problem.sets.oneOf(group.key, domains));
      if (next === undefined || !this.#isRoomy(template, next, podData)) {
        const places = placesOf(template, this.#typesUnder(template, joined), joined.requirements, group.key);
        return this.#topology.text(group, podData, places, confines);
      }
      joined = next;
    }
    return undefined;
  }

  #minValues(template: Template, podData: PodData): string | undefined {
    if (template.minValues.length === 0) return undefined;
    const { types, set } = this.suiting(template, podData);
    return minValuesText(template, types, set);
  }

  /**
   * The types that hold a pod which no check refuses, cheapest first, and what its node must meet with the volumes and
   * the topology of the pod.
   */
  suiting(template: Template, podData: PodData): { readonly types: readonly number[]; readonly set: RequirementSet } {
    const { topology, problem } = this.#attempt;
    let set = this.#joined(template, podData);
    const volumes = podData.volumeSets.flatMap((one) => problem.sets.join(set, one) ?? []);
    set = volumes.find((one) => this.#isRoomy(template, one, podData)) ?? set;
    for (const group of podData.areas) {
      const domains = allowedDomains(topology, group, podData, set.requirements);
      if (domains !== "any") set = problem.sets.join(set, problem.sets.oneOf(group.key, domains)) ?? set;
    }
    const types = this.#typesUnder(template, set);
    const { order } = template.table.prices(set);
    return { types: order.filter((t) => hasBit(types, t) && this.#room.fits(template, t, podData)), set };
  }

  /** The pool's requirements joined with the pod's, which are compatible when this is called. */
  #joined(template: Template, podData: PodData): RequirementSet {
    return this.#attempt.problem.sets.join(template.set, podData.set) ?? template.set;
  }

  #typesUnder(template: Template, set: RequirementSet): Bitset {
    const key = `${template.index} ${set.id}`;
    const known = this.#types.get(key) ?? intersection(template.types, template.table.admitted(set));
    this.#types.set(key, known);
    return known;
  }

  #isRoomy(template: Template, set: RequirementSet, podData: PodData): boolean {
    return this.#room.isRoomy(template, String(set.id), this.#typesUnder(template, set), podData);
  }

  #roomy(template: Template, podData: PodData): readonly number[] {
    return this.#room.roomy(template, this.#typesUnder(template, this.#joined(template, podData)), podData);
  }
}

/** Types of a template of which one node takes no more than what is left of the pool's limits. */
function typesWithin(template: Template, left: Resources): Bitset {
  const amounts = Object.entries(left).map(([name, amount]) => ({ amount, uses: template.limited(name) }));
  const within = emptyBitset(template.table.types.length);
  for (const t of members(template.types)) if (amounts.every(({ amount, uses }) => (uses[t] ?? 0) <= amount)) setBit(within, t);
  return within;
}
