import { HOSTNAME, WELL_KNOWN_LABELS } from "../model/labels.ts";
import type { NodePool } from "../model/node-pool.ts";
import type { Pod } from "../model/pod.ts";
import type { Toleration } from "../model/taint.ts";
import { canonical, has, requirement } from "../requirements/requirement.ts";
import { incompatibility, intersectAll, normalizeKey, type Requirements } from "../requirements/requirements.ts";
import type { Attempt } from "./attempt.ts";
import { type Bitset, fullBitset, intersection, isEmpty, members } from "./bitset.ts";
import { takenPort } from "./host-ports.ts";
import { OFFERING_KEYS } from "./offering-table.ts";
import { keepsFree } from "./open-types.ts";
import type { Ask } from "./pod-class.ts";
import { contradictionIn, requiredTerms } from "./preferences.ts";
import { allowedDomains, CompanyReasons } from "./reasons/company.ts";
import { conflictText, noTypeText } from "./reasons/labels.ts";
import { limitText } from "./reasons/limits.ts";
import { RoomReasons } from "./reasons/room.ts";
import { unusablePool } from "./reasons/unusable-pool.ts";
import { counted, inOrder, listed, requirementText } from "./reasons/words.ts";
import type { RequirementSet } from "./requirement-sets.ts";
import { describeTaint, untolerated } from "./taints.ts";
import type { Template } from "./template.ts";
import { claimNames } from "./volumes.ts";

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

  /** Why the pods of a class that are left are left. Preferences are no part of it: they were given up. */
  reason(classIndex: number): string {
    const asks = this.#attempt.world.asks[classIndex] ?? [];
    const last = asks.at(-1);
    if (last === undefined) return "the pod was not considered";
    if ((last.class.example.spec.resourceClaims ?? []).length > 0) {
      return "the pod asks for devices by Dynamic Resource Allocation (spec.resourceClaims), which new nodes are not made for; remove the claims, or run it on nodes that are not a NodePool's";
    }
    const alternatives = this.#alternatives(asks, last);
    const possible = alternatives.filter(({ contradiction }) => contradiction === undefined);
    if (possible.length === 0) return contradictionText(last.class.example, last.contradiction ?? "");
    if (this.#attempt.deferred.has(classIndex)) return this.#reserved(possible);
    const { templates } = this.#attempt.world;
    if (templates.length === 0) {
      if (this.#unusable.length === 0) return "there is no NodePool, so no node can be bought; create one";
      return `no NodePool can launch nodes: ${this.#unusable.map(([name, reason]) => `${name} ${reason}`).join("; ")}`;
    }
    return [
      ...folded(templates.map((template) => ({ name: template.name, verdict: this.#verdict(template, possible) }))),
      ...this.#unusable.map(([name, reason]) => `NodePool ${name} ${reason}`),
    ].join("; ");
  }

  /** The pod's OR-ed demands, without preferences. */
  #alternatives(asks: readonly Ask[], last: Ask): readonly Ask[] {
    const byText = new Map<string, Ask>();
    for (const { strict } of asks) {
      const text = [...strict.values()].map(canonical).sort().join();
      if (byText.has(text)) continue;
      const host = strict.get(HOSTNAME);
      byText.set(text, {
        ...last,
        strict,
        set: this.#attempt.world.sets.intern(intersectAll(new Map([...strict].filter(([key]) => key !== HOSTNAME)))),
        acceptsNewHost: host === undefined || has(host, "a-host-that-is-still-to-come"),
        contradiction: contradictionIn(strict),
      });
    }
    return [...byText.values()];
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
    const others = possible.length - 1;
    if (others === 0) return furthest;
    return { ...furthest, text: `${furthest.text} (the best of the pod's ${possible.length} alternative affinity terms)` };
  }

  /** In the order in which a claim is tried (scheduling.md §8); what a raised limit would not help comes before limits. */
  #why(template: Template, ask: Ask): Verdict {
    const stages = [
      () => tolerationText(template, ask),
      () => this.#labels(template, ask),
      () => this.#types(template, ask),
      () => this.#roomFor(template, ask),
      () => this.#volumes(template, ask),
      () => this.#ports(template, ask),
      () => limitText(template, this.#attempt.limits.left(template), this.#roomy(template, ask)),
      () => this.#companyText(template, ask),
    ];
    for (const [stage, tell] of stages.entries()) {
      const text = tell();
      if (text !== undefined) return { stage, text };
    }
    return { stage: stages.length, text: minValuesText(template, this.#roomy(template, ask)) };
  }

  #labels(template: Template, ask: Ask): string | undefined {
    if (!ask.acceptsNewHost)
      return `the pod wants the host ${requirementText(ask.strict.get(HOSTNAME) ?? NO_HOST)}, which a new node cannot be`;
    const conflict = incompatibility(template.set.requirements, ask.set.requirements, WELL_KNOWN_LABELS);
    return conflict === undefined ? undefined : conflictText(conflict, this.#defined);
  }

  #types(template: Template, ask: Ask): string | undefined {
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
    return this.#isRoomy(template, joined, ask) ? undefined : this.#room.text(template, joined.id, this.#typesUnder(template, joined), ask);
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

  #companyText(template: Template, ask: Ask): string | undefined {
    const { topology, world } = this.#attempt;
    for (const group of ask.hosts) {
      if (!topology.allows(group, ask, "a-new-host")) return this.#company.text(group, ask, template.set.requirements);
    }
    let joined = this.#joined(template, ask);
    for (const group of ask.areas) {
      const domains = allowedDomains(topology, group, ask, joined.requirements);
      if (domains === "any") continue;
      const next = domains.length === 0 ? undefined : world.sets.join(joined, world.sets.oneOf(group.key, domains));
      if (next === undefined || !this.#isRoomy(template, next, ask)) return this.#company.text(group, ask, joined.requirements);
      joined = next;
    }
    return undefined;
  }

  /** The pool's requirements with the ask's, which agree by now. */
  #joined(template: Template, ask: Ask): RequirementSet {
    return this.#attempt.world.sets.join(template.set, ask.set) ?? template.set;
  }

  #typesUnder(template: Template, set: RequirementSet): Bitset {
    return intersection(template.types, template.table.admitted(set));
  }

  #isRoomy(template: Template, set: RequirementSet, ask: Ask): boolean {
    return this.#room.isRoomy(template, set.id, this.#typesUnder(template, set), ask);
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

function tolerationText({ taints }: Template, ask: Ask): string | undefined {
  const taint = untolerated(taints, ask.tolerations);
  if (taint === undefined) return undefined;
  const near = ask.tolerations.find(({ key }) => key === taint.key);
  const but = near === undefined ? "" : ` (its toleration ${describeToleration(near)} is another)`;
  return `the pod does not tolerate its taint ${describeTaint(taint)}${but}; add a toleration if it may run there`;
}

function describeToleration({ key = "", operator, value, effect }: Toleration): string {
  return `${key}${operator === "Exists" ? "" : `${operator === "Gt" ? ">" : operator === "Lt" ? "<" : "="}${value ?? ""}`}:${effect || "any effect"}`;
}

/** All that the pod's manifest says about the label. */
function contradictionText({ spec }: Pod, key: string): string {
  const selector = Object.entries(spec.nodeSelector ?? {}).flatMap(([name, value]) =>
    normalizeKey(name) === key ? [`${name}=${value}`] : [],
  );
  const written = requiredTerms(spec).flatMap(({ matchExpressions }) =>
    (matchExpressions ?? []).flatMap(({ key: name, operator, values = [] }) =>
      normalizeKey(name) === key ? [[name, operator, ...(values.length > 0 ? [`[${values.join(", ")}]`] : [])].join(" ")] : [],
    ),
  );
  return `the pod's own demands exclude each other: ${listed([...new Set([...selector, ...written])])}; no node has a ${key} that meets all of them, so change one`;
}

function volumeText(template: Template, ask: Ask, node: Requirements): string {
  const claims = claimNames(ask.class.example);
  const where = ask.volumeSets.map(({ requirements }) => inOrder([...requirements.values()].map(requirementText)).join(" and "));
  const keys = new Set(ask.volumeSets.flatMap(({ requirements }) => [...requirements.keys()]));
  const offers = inOrder(keys).flatMap((key) => {
    const own = node.get(key);
    const values = new Set(members(template.types).flatMap((t) => template.table.valuesOf(t, key)));
    const open = inOrder(values).filter((value) => own === undefined || has(own, value));
    return open.length === 0 ? [] : [`${key} ${listed(open)}`];
  });
  const here = offers.length === 0 ? "its nodes cannot be there" : `the pool can only place the pod in ${offers.join(", ")}`;
  const claim = `PersistentVolumeClaim${claims.length === 1 ? "" : "s"} ${listed(claims)}`;
  return `${claim} can only be used with ${where.join(" or ")}, and ${here}; give the pool room there (requirements, subnets), or move the data`;
}

/** What is left when nothing else rules the pool out. */
function minValuesText({ minValues, table }: Template, roomy: readonly number[]): string {
  for (const { key, least } of minValues) {
    const values = inOrder(new Set(roomy.flatMap((t) => table.valuesOf(t, key))));
    if (values.length < least) {
      return `its minValues wants ${least} different ${key}, and the ${counted(roomy.length, "instance type")} that would hold the pod have ${values.length} (${listed(values)}); lower minValues or widen the pool`;
    }
  }
  return "no node suits all of the pod's demands at once: places, company, limits and minValues, each of which could be met by itself";
}

const NO_HOST = requirement(HOSTNAME, "DoesNotExist");
