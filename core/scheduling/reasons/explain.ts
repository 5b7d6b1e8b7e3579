import { HOSTNAME, NODE_POOL, WELL_KNOWN_LABELS } from "../../model/labels.ts";
import type { NodePool } from "../../model/node-pool.ts";
import { hasDeviceClaims } from "../../pods/device-claims.ts";
import { canonical, requirement } from "../../requirements/requirement.ts";
import { incompatibility, type Requirements } from "../../requirements/requirements.ts";
import type { Attempt } from "../attempt.ts";
import { keepsFree } from "../problem/open-types.ts";
import type { Ask } from "../problem/pod-class.ts";
import type { Template } from "../problem/template.ts";
import { takenPort } from "../rules/host-ports.ts";
import { type Bitset, fullBitset, intersection, isEmpty } from "../tables/bitset.ts";
import { OFFERING_KEYS } from "../tables/offering-table.ts";
import type { RequirementSet } from "../tables/requirement-sets.ts";
import { allowedDomains, CompanyReasons } from "./company.ts";
import { contradictionText } from "./contradiction.ts";
import { conflictText, likelyKey, noSuchPoolText, noTypeText } from "./labels.ts";
import { byShareOfLimits, limitText } from "./limits.ts";
import { minValuesText } from "./min-values.ts";
import { placesOf } from "./places.ts";
import { RoomReasons } from "./room.ts";
import { tolerationText } from "./tolerations.ts";
import { unusablePool } from "./unusable-pool.ts";
import { volumeText } from "./volumes.ts";
import { listed, requirementText } from "./words.ts";

/** Karpenter's sentence, which people search for, and the mend. */
const DEVICES =
  "pod has Dynamic Resource Allocation requirements that are not yet supported by Karpenter; remove spec.resourceClaims, or run it on nodes that are not a NodePool's";

/**
 * The last shape of each of the pod's OR-ed demands. Only that of the last term is without preferences: the others are given up before those
 * (scheduling.md §7).
 */
function alternatives(asks: readonly Ask[]): readonly Ask[] {
  return [...new Map(asks.map((ask) => [textOf(ask.strict), ask])).values()];
}

function textOf(set: Requirements): string {
  return [...set.values()].map(canonical).sort().join();
}

/** What ruled a pool out, and how far the pod had come by then: of several alternatives of a pod the one that came furthest is told. */
interface Verdict {
  readonly stage: number;
  readonly text: string;
}

/**
 * Says why pods were left, in words that lead to the mend: what the pod itself makes impossible, else by NodePool what ruled it out and how
 * near the closest instance type came. Works out nothing until asked; what pods have in common is worked out once.
 */
export class Explainer {
  readonly #attempt: Attempt;
  readonly #room: RoomReasons;
  readonly #company: CompanyReasons;
  /** Pools that take no part, each with the reason. */
  readonly #unusable: readonly (readonly [string, string])[];
  /** Labels that pools give their nodes. */
  readonly #defined: ReadonlySet<string>;
  readonly #likely = new Map<string, string | undefined>();
  readonly #types = new Map<string, Bitset>();
  readonly #byLimits = new Map<string, readonly number[]>();

  constructor(attempt: Attempt, nodePools: readonly NodePool[]) {
    this.#attempt = attempt;
    this.#room = new RoomReasons(attempt.world);
    this.#company = new CompanyReasons(attempt.topology, attempt.nodes, attempt.world.axis);
    this.#unusable = nodePools
      .flatMap((pool) => {
        const reason = unusablePool(pool);
        return reason === undefined ? [] : [[pool.metadata.name, reason] as const];
      })
      .sort(([a], [b]) => (a < b ? -1 : 1));
    this.#defined = new Set(attempt.world.templates.flatMap(({ set }) => [...set.requirements.keys()]));
  }

  /** Why the pods of a class that are left are left. */
  reason(classIndex: number): string {
    const asks = this.#attempt.world.asks[classIndex] ?? [];
    const last = asks.at(-1);
    if (last === undefined) return "the pod was not considered";
    if (hasDeviceClaims(last.class.example.spec)) return DEVICES;
    const possible = alternatives(asks).filter(({ contradiction }) => contradiction === undefined);
    if (possible.length === 0) return contradictionText(last.class.example, last.contradiction ?? "");
    if (this.#attempt.deferred.has(classIndex)) return this.#reserved(possible);
    const { templates } = this.#attempt.world;
    if (templates.length === 0) {
      if (this.#unusable.length === 0) return "there is no NodePool, so no node can be bought; create one";
      return `no NodePool can launch nodes: ${this.#unusable.map(([name, reason]) => `${name} ${reason}`).join("; ")}`;
    }
    const pools = [...templates, ...this.#unusable.map(([name]) => ({ name }))].map(({ name }) => name);
    const astray = possible.map(({ strict }) => noSuchPoolText(strict.get(NODE_POOL), pools));
    if (astray[0] !== undefined && !astray.includes(undefined)) return astray[0];
    return [
      ...folded(templates.map((template) => ({ name: template.name, verdict: this.#verdict(template, possible) }))),
      ...this.#unusable.map(([name, reason]) => `NodePool ${name} ${reason}`),
    ].join("; ");
  }

  #reserved(possible: readonly Ask[]): string {
    const { templates, sets } = this.#attempt.world;
    const ids = templates.flatMap(({ table, set, types }) =>
      possible.flatMap((ask) => {
        const joined = sets.join(set, ask.set);
        return joined === undefined ? [] : table.reservations(joined, types);
      }),
    );
    return `the capacity reservations that suit the pod (${listed([...new Set(ids)].sort())}) are taken by other nodes of this run; the pod is tried again in the next`;
  }

  #verdict(template: Template, possible: readonly Ask[]): Verdict {
    const verdicts = possible.map((ask) => this.#why(template, ask));
    const furthest = verdicts.reduce((best, verdict) => (verdict.stage > best.stage ? verdict : best));
    if (possible.length === 1) return furthest;
    const holds = possible[verdicts.indexOf(furthest)];
    const isHeld = holds !== undefined && textOf(holds.requirements) !== textOf(holds.strict);
    const held = isHeld ? "; preferences count as long as other terms are left" : "";
    return { ...furthest, text: `${furthest.text} (the nearest of the pod's ${possible.length} required affinity terms${held})` };
  }

  /** In the order in which a claim is tried (scheduling.md §8); what a raised limit would not help comes before limits. */
  #why(template: Template, ask: Ask): Verdict {
    const stages = [
      () => tolerationText(template, ask),
      () => this.#labels(template, ask),
      () => this.#noType(template, ask),
      () => this.#roomFor(template, ask),
      () => this.#volumes(template, ask),
      () => this.#ports(template, ask),
      () => this.#limits(template, ask),
      () => this.#companyText(template, ask),
      () => minValuesText(template, this.#roomy(template, ask)),
    ];
    for (const [stage, tell] of stages.entries()) {
      const text = tell();
      if (text !== undefined) return { stage, text };
    }
    return {
      stage: stages.length,
      text: "no node suits all of the pod's demands at once: places, company, limits and minValues, each of which could be met by itself",
    };
  }

  #labels(template: Template, ask: Ask): string | undefined {
    if (!ask.acceptsNewHost)
      return `the pod wants the host ${requirementText(ask.strict.get(HOSTNAME) ?? NO_HOST)}, which a new node cannot be`;
    const conflict = incompatibility(template.set.requirements, ask.set.requirements, WELL_KNOWN_LABELS);
    return conflict === undefined ? undefined : conflictText(conflict, (key) => this.#likelyKey(key));
  }

  #noType(template: Template, ask: Ask): string | undefined {
    const { table, set, types } = template;
    const { name, kind } = template.pool.spec.template.spec.nodeClassRef;
    if (table.types.length === 0) return `its ${kind} ${name} offers no instance types; see its status`;
    if (isEmpty(types)) return `it has nothing to launch: ${noTypeText(template, set.requirements, fullBitset(table.types.length))}`;
    const joined = this.#joined(template, ask);
    if (!isEmpty(this.#typesUnder(template, joined))) return undefined;
    const wanted = [...joined.requirements].filter(([key]) => ask.set.requirements.has(key) || OFFERING_KEYS.includes(key));
    return noTypeText(template, new Map(wanted), types);
  }

  #roomFor(template: Template, ask: Ask): string | undefined {
    const joined = this.#joined(template, ask);
    return this.#isRoomy(template, joined, ask)
      ? undefined
      : this.#room.text(template, String(joined.id), this.#typesUnder(template, joined), ask);
  }

  #likelyKey(key: string): string | undefined {
    if (!this.#likely.has(key)) this.#likely.set(key, likelyKey(key, this.#defined));
    return this.#likely.get(key);
  }

  #volumes(template: Template, ask: Ask): string | undefined {
    const { sets } = this.#attempt.world;
    if (ask.volumeSets.length === 0) return undefined;
    const suits = ask.volumeSets.some((volumes) => {
      const joined = sets.join(this.#joined(template, ask), volumes);
      return joined !== undefined && this.#isRoomy(template, joined, ask);
    });
    if (suits) return undefined;
    return volumeText(template, ask, this.#joined(template, ask).requirements);
  }

  #ports(template: Template, ask: Ask): string | undefined {
    const { ports } = ask.class;
    if (ports.length === 0 || this.#roomy(template, ask).some((t) => keepsFree(template, t, ports))) return undefined;
    const daemons = template.daemonGroups.flatMap((group) => group.daemons);
    const taker = daemons.find((daemon) => takenPort(ports, daemon.ports) !== undefined);
    return `the pod needs host port ${takenPort(ports, taker?.ports ?? [])?.port}, which daemonset ${taker?.name} takes on its nodes; change one of them`;
  }

  #limits(template: Template, ask: Ask): string | undefined {
    const { limits } = this.#attempt;
    const left = limits.left(template);
    if (left === undefined) return undefined;
    const { id } = this.#joined(template, ask);
    const types = this.#typesUnder(template, this.#joined(template, ask));
    const within = limits.typesWithin(template);
    if (within === template.types || this.#room.isRoomy(template, `${id} within limits`, intersection(types, within), ask))
      return undefined;
    return limitText(template, left, () => {
      const key = `${template.index} ${id}`;
      const order = this.#byLimits.get(key) ?? byShareOfLimits(template, types);
      this.#byLimits.set(key, order);
      return order.find((t) => this.#room.fits(template, t, ask));
    });
  }

  #companyText(template: Template, ask: Ask): string | undefined {
    const { topology, world } = this.#attempt;
    for (const group of ask.hosts) {
      if (!topology.allows(group, ask, "a-new-host")) return this.#company.text(group, ask, []);
    }
    let joined = this.#joined(template, ask);
    for (const group of ask.areas) {
      const domains = allowedDomains(topology, group, ask, joined.requirements);
      if (domains === "any") continue;
      const next = domains.length === 0 ? undefined : world.sets.join(joined, world.sets.oneOf(group.key, domains));
      if (next === undefined || !this.#isRoomy(template, next, ask)) {
        return this.#company.text(group, ask, placesOf(template, this.#typesUnder(template, joined), joined.requirements, group.key));
      }
      joined = next;
    }
    return undefined;
  }

  /** The pool's requirements with the ask's, which agree by now. */
  #joined(template: Template, ask: Ask): RequirementSet {
    return this.#attempt.world.sets.join(template.set, ask.set) ?? template.set;
  }

  #typesUnder(template: Template, set: RequirementSet): Bitset {
    const key = `${template.index} ${set.id}`;
    const known = this.#types.get(key) ?? intersection(template.types, template.table.admitted(set));
    this.#types.set(key, known);
    return known;
  }

  #isRoomy(template: Template, set: RequirementSet, ask: Ask): boolean {
    return this.#room.isRoomy(template, String(set.id), this.#typesUnder(template, set), ask);
  }

  #roomy(template: Template, ask: Ask): readonly number[] {
    return this.#room.roomy(template, this.#typesUnder(template, this.#joined(template, ask)), ask);
  }
}

/**
 * "NodePool a: …; NodePools b and c: …": pools of one reason together. Those that the pod came furthest with go first, since events are cut; equals
 * keep the order in which they are tried.
 */
function folded(pools: readonly { readonly name: string; readonly verdict: Verdict }[]): readonly string[] {
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

const NO_HOST = requirement(HOSTNAME, "DoesNotExist");
