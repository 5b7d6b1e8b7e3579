// Room core/scheduling/reasons: why a pod was not placed, in words that name the fix. In: a finished Attempt. Out: one
// text for each class of unplaced pods, for `podErrors`, events and the CLI. The texts are golden
// (test/core/scheduling/reasons/explain.golden.txt). Must not know: how the search went; nothing here changes a plan.

import { NODE_POOL, WELL_KNOWN_LABELS } from "../../model/labels.ts";
import type { Snapshot } from "../../model/snapshot.ts";
import { ownerOfGroup } from "../../node-pool/foreign-class.ts";
import { hasDeviceClaims } from "../../pods/device-claims.ts";
import { OFFERING_KEYS } from "../../requirements/offerings.ts";
import { canonical } from "../../requirements/requirement.ts";
import { incompatibility, intersectAll, type Requirements } from "../../requirements/requirements.ts";
import { MAX_VALUE_CHARACTERS } from "../../requirements/validation.ts";
import type { Attempt } from "../attempt.ts";
import { keepsFree } from "../problem/open-types.ts";
import type { PodData } from "../problem/pod-class.ts";
import type { Template } from "../problem/template.ts";
import { takenPort } from "../rules/host-ports.ts";
import { type Bitset, fullBitset, intersection, isEmpty } from "../tables/bitset.ts";
import { itemsOf, MAX_ITEMS, type RequirementSet, unwritableItem, valueCharacters } from "../tables/requirement-sets.ts";
import { contradictionText } from "./contradiction.ts";
import { conflictText, likelyKey, noSuchPoolText, noTypeText } from "./labels.ts";
import { byShareOfLimits, limitText } from "./limits.ts";
import { minValuesText } from "./min-values.ts";
import { placesOf } from "./places.ts";
import { RoomReasons } from "./room.ts";
import { tolerationText } from "./tolerations.ts";
import { allowedDomains, NEW_HOST, TopologyReasons } from "./topology.ts";
import { unusablePool } from "./unusable-pool.ts";
import { hostText, volumeText } from "./volumes.ts";
import { listed } from "./words.ts";

/** Karpenter's sentence, which users search for, and the fix. */
const DEVICES =
  "pod has Dynamic Resource Allocation requirements that are not yet supported by Karpenter; remove spec.resourceClaims, or run it on nodes that are not a NodePool's";

/** The last relaxation step of each OR-ed required term; it is without preferences. */
function alternatives(relaxations: readonly PodData[]): readonly PodData[] {
  return [...new Map(relaxations.map((podData) => [textOf(podData.strict), podData])).values()];
}

function textOf(set: Requirements): string {
  return [...set.values()].map(canonical).sort().join();
}

/** Why a pool cannot place a pod. */
interface PoolVerdict {
  /** Index of the check that failed. Of a pod's alternatives, the one that failed last is explained. */
  readonly stage: number;
  readonly text: string;
}

type DefinedPools = Pick<Snapshot, "nodePools" | "otherPools" | "unreadablePools" | "now">;

/**
 * Explains why pods were not placed, in words that name the fix: what the pod itself makes impossible, otherwise for
 * each NodePool what ruled it out and what the closest instance type lacks. Everything is computed on demand; results
 * that classes share are computed once.
 *
 *     new Explainer(attempt, snapshot).reason(podClass.index); // "NodePool default: the pod asks for cpu 20, …"
 */
export class Explainer {
  readonly #attempt: Attempt;
  readonly #room: RoomReasons;
  readonly #topology: TopologyReasons;
  /** Templates of the other pools. */
  readonly #templates: readonly Template[];
  /** Pools that cannot launch nodes for pods, each with the reason. */
  readonly #unusable: readonly (readonly [string, string])[];
  /** Names of the pools that a known controller serves: where pools of ours could take a pod, they are no answer. */
  readonly #othersOwn: ReadonlySet<string>;
  /** Labels that pools give their nodes. */
  readonly #defined: ReadonlySet<string>;
  /** By label key: the key that was probably meant. */
  readonly #likely = new Map<string, string | undefined>();
  /** By template and requirement set: the pool's types under the set. */
  readonly #types = new Map<string, Bitset>();
  /** By template and requirement set: the types by their share of the pool's limits. */
  readonly #byLimits = new Map<string, readonly number[]>();

  constructor(attempt: Attempt, { nodePools: own, otherPools = [], unreadablePools = new Map(), now }: DefinedPools) {
    const nodePools = [...own, ...otherPools];
    this.#attempt = attempt;
    this.#room = new RoomReasons(attempt.problem);
    this.#topology = new TopologyReasons(attempt.topology, attempt.nodes, attempt.problem.axis);
    const { templates } = attempt.problem;
    const withTypes = new Set(templates.flatMap(({ name, table }) => (table.types.length > 0 ? [name] : [])));
    const unfit = nodePools.flatMap((pool) => {
      const reason = unusablePool(pool, withTypes.has(pool.metadata.name), now);
      return reason === undefined ? [] : [[pool.metadata.name, reason] as const];
    });
    this.#unusable = [...unfit, ...unreadablePools].sort(([a], [b]) => (a < b ? -1 : 1));
    this.#othersOwn = new Set(
      nodePools.flatMap(({ metadata, spec }) => (ownerOfGroup(spec.template.spec.nodeClassRef.group) === undefined ? [] : [metadata.name])),
    );
    const unusable = new Set(this.#unusable.map(([name]) => name));
    // What commitments leave bounds no pool: its own template says why it takes no pod.
    this.#templates = templates.filter(({ name, paidFor }) => paidFor === undefined && !unusable.has(name));
    this.#defined = new Set(templates.flatMap(({ set }) => [...set.requirements.keys()]));
  }

  /** Why the unplaced pods of a class were not placed. */
  reason(classIndex: number): string {
    const relaxations = this.#attempt.problem.relaxations[classIndex] ?? [];
    const last = relaxations.at(-1);
    if (last === undefined) return "the pod was not considered";
    if (hasDeviceClaims(last.class.example.spec)) return DEVICES;
    const possible = alternatives(relaxations).filter(({ contradiction }) => contradiction === undefined);
    if (possible.length === 0) return contradictionText(last.class.example, last.contradiction ?? "");
    if (this.#attempt.deferred.has(classIndex)) return this.#reserved(possible);
    const templates = this.#templates;
    if (templates.length === 0) {
      if (this.#unusable.length === 0) return "there is no NodePool, so no node can be bought; create one";
      return `no NodePool can launch nodes: ${this.#unusable.map(([name, reason]) => `${name} ${reason}`).join("; ")}`;
    }
    const pools = [...templates, ...this.#unusable.map(([name]) => ({ name }))].map(({ name }) => name);
    const noSuchPool = possible.map(({ strict }) => noSuchPoolText(strict.get(NODE_POOL), pools));
    if (noSuchPool[0] !== undefined && !noSuchPool.includes(undefined)) return noSuchPool[0];
    return [
      ...folded(templates.map((template) => ({ name: template.name, verdict: this.#verdict(template, possible) }))),
      ...this.#unusable.flatMap(([name, reason]) => (this.#othersOwn.has(name) ? [] : [`NodePool ${name} ${reason}`])),
    ].join("; ");
  }

  #reserved(possible: readonly PodData[]): string {
    const { templates, sets } = this.#attempt.problem;
    const ids = templates.flatMap(({ table, set, types }) =>
      possible.flatMap((podData) => {
        const joined = sets.join(set, podData.set);
        return joined === undefined ? [] : table.reservations(joined, types);
      }),
    );
    return `the capacity reservations that suit the pod (${listed([...new Set(ids)].sort())}) are taken by other nodes of this run; the pod is tried again in the next`;
  }

  #verdict(template: Template, possible: readonly PodData[]): PoolVerdict {
    const verdicts = possible.map((podData) => this.#why(template, podData));
    const furthest = verdicts.reduce((best, verdict) => (verdict.stage > best.stage ? verdict : best));
    if (possible.length === 1) return furthest;
    return { ...furthest, text: `${furthest.text} (the nearest of the pod's ${possible.length} required affinity terms)` };
  }

  /**
   * The first check that fails, in the order in which a claim checks a pod; what higher limits would not help comes
   * before limits.
   */
  #why(template: Template, podData: PodData): PoolVerdict {
    const stages = [
      () => tolerationText(template, podData),
      () => this.#labels(template, podData),
      () => this.#noType(template, podData),
      () => this.#roomFor(template, podData),
      () => this.#volumes(template, podData),
      () => this.#ports(template, podData),
      () => this.#limits(template, podData),
      () => this.#topologyText(template, podData),
      () => minValuesText(template, this.#roomy(template, podData)),
    ];
    for (const [stage, check] of stages.entries()) {
      const text = check();
      if (text !== undefined) return { stage, text };
    }
    return {
      stage: stages.length,
      text: "no node suits all of the pod's demands at once: places, company, limits and minValues, each of which could be met by itself",
    };
  }

  #labels(template: Template, podData: PodData): string | undefined {
    if (!podData.acceptsNewHost) return hostText(podData);
    const conflict = incompatibility(template.set.requirements, podData.set.requirements, WELL_KNOWN_LABELS);
    if (conflict !== undefined) return conflictText(conflict, (key) => this.#likelyKey(key));
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

  #likelyKey(key: string): string | undefined {
    if (!this.#likely.has(key)) this.#likely.set(key, likelyKey(key, this.#defined));
    return this.#likely.get(key);
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
    const { limits } = this.#attempt;
    const left = limits.left(template);
    if (left === undefined) return undefined;
    const { id } = this.#joined(template, podData);
    const types = this.#typesUnder(template, this.#joined(template, podData));
    const within = limits.typesWithin(template);
    if (within === template.types || this.#room.isRoomy(template, `${id} within limits`, intersection(types, within), podData))
      return undefined;
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
      if (!topology.allows(group, podData, NEW_HOST)) return this.#topology.text(group, podData, []);
    }
    let joined = this.#joined(template, podData);
    for (const group of podData.areas) {
      const domains = allowedDomains(topology, group, podData, joined.requirements);
      if (domains === "any") continue;
      const next = domains.length === 0 ? undefined : problem.sets.join(joined, problem.sets.oneOf(group.key, domains));
      if (next === undefined || !this.#isRoomy(template, next, podData)) {
        return this.#topology.text(group, podData, placesOf(template, this.#typesUnder(template, joined), joined.requirements, group.key));
      }
      joined = next;
    }
    return undefined;
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

/**
 * "NodePool a: …", "NodePools b and c: …": pools with the same reason together. Pools whose last check failed latest
 * come first, because events are cut at the end; others keep the order in which they are tried.
 */
function folded(pools: readonly { readonly name: string; readonly verdict: PoolVerdict }[]): readonly string[] {
  const byText = new Map<string, { readonly stage: number; readonly names: string[] }>();
  for (const { name, verdict } of pools) {
    const known = byText.get(verdict.text);
    if (known === undefined) byText.set(verdict.text, { stage: verdict.stage, names: [name] });
    else known.names.push(name);
  }
  return [...byText]
    .sort(([, a], [, b]) => b.stage - a.stage)
    .map(([text, { names }]) => `NodePool${names.length === 1 ? "" : "s"} ${listed(names)}: ${text}`);
}
