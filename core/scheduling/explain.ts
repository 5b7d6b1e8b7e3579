import { WELL_KNOWN_LABELS } from "../model/labels.ts";
import { formatQuantity } from "../model/quantity.ts";
import { describe } from "../requirements/requirement.ts";
import { describeConflict, incompatibility } from "../requirements/requirements.ts";
import type { Attempt } from "./attempt.ts";
import { hasBit, isEmpty, members, overlap } from "./bitset.ts";
import { takenPort } from "./host-ports.ts";
import type { Ask } from "./pod-class.ts";
import { describeTaint, untolerated } from "./taints.ts";
import type { Template } from "./template.ts";
import type { TopologyGroup } from "./topology-group.ts";

/**
 * Why pods of a class were left, in words that lead to the mend: what the pod itself makes impossible, else by NodePool what ruled it out
 * and how near the closest instance type came. Told of the last shape tried, when all preferences were given up.
 */
export function explain(attempt: Attempt, classIndex: number): string {
  const asks = attempt.world.asks[classIndex] ?? [];
  const last = asks.at(-1);
  if (last === undefined) return "the pod was not considered";
  if ((last.class.example.spec.resourceClaims ?? []).length > 0) {
    return "pod has Dynamic Resource Allocation requirements that are not supported; remove spec.resourceClaims or run it on nodes of your own";
  }
  if (attempt.deferred.has(classIndex)) {
    return "capacity reservations suit the pod, but all of their instances are taken by nodes planned in this run; the pod is tried again in the next";
  }
  if (asks.every(({ contradiction }) => contradiction !== undefined)) {
    return `the pod's own requirements on label ${last.contradiction} exclude each other; no node can have a value that suits both`;
  }
  const { templates } = attempt.world;
  if (templates.length === 0) return "no NodePool can launch nodes; create one, or see why those that exist are not Ready";
  return templates.map((template) => `NodePool ${template.name}: ${why(attempt, template, last)}`).join("; ");
}

function why(attempt: Attempt, template: Template, ask: Ask): string {
  const taint = untolerated(template.taints, ask.tolerations);
  if (taint !== undefined) return `the pod does not tolerate its taint ${describeTaint(taint)}`;
  if (!ask.acceptsNewHost) return "the pod wants a host that exists, which a new node cannot be";
  const conflict = incompatibility(template.set.requirements, ask.set.requirements, WELL_KNOWN_LABELS);
  if (conflict !== undefined) return describeConflict(conflict);
  if (template.table.types.length === 0) return "it has no instance types; see the status of its node class";
  if (isEmpty(template.types)) return "its own requirements leave no instance type with an available offering";
  const limit = spentLimit(attempt, template);
  if (limit !== undefined) return limit;
  const set = attempt.world.sets.join(template.set, ask.set);
  const types = set === undefined ? template.types : template.table.admitted(set);
  if (set !== undefined && isEmpty(types)) return noType(template, ask);
  if (!fitsSome(attempt, template, ask, types)) return closest(attempt, template, ask, types);
  const volumes = ask.volumeSets.map((volumeSet) => set && attempt.world.sets.join(set, volumeSet));
  if (volumes.length > 0 && volumes.every((joined) => joined === undefined || isEmpty(template.table.admitted(joined)))) {
    return `its nodes cannot be where the pod's volumes are (${ask.volumeSets.map((s) => [...s.requirements.values()].map(describe).join(", ")).join(" or ")})`;
  }
  const within = limitText(attempt, template, ask, types);
  if (within !== undefined) return within;
  for (const group of ask.deciding) {
    if (set === undefined || attempt.topology.choices(group, ask, set.requirements, "a-new-host", () => 0).length === 0)
      return topologyText(attempt, group, ask);
  }
  if (template.minValues.length > 0) {
    return `too few instance types are left for minValues (${template.minValues.map(({ key, least }) => `${key}: ${least}`).join(", ")})`;
  }
  return ask.deciding.length > 0
    ? `no domain suits all at once: ${ask.deciding.map((group) => topologyText(attempt, group, ask)).join(", and ")}`
    : "a host port that the pod needs is taken by a daemonset";
}

/** A limit of which nothing is left for even the smallest type. */
function spentLimit(attempt: Attempt, template: Template): string | undefined {
  const rest = attempt.limits.left(template);
  const limits = template.pool.spec.limits ?? {};
  if (rest === undefined) return undefined;
  if ((rest["nodes"] ?? 1000) < 1000) return `its limit of ${limits["nodes"]} nodes is reached; raise spec.limits.nodes`;
  for (const name of Object.keys(rest).sort()) {
    const least = Math.min(...members(template.types).map((t) => template.table.capacity[t]?.[name] ?? 0));
    if (name !== "nodes" && least > (rest[name] ?? 0)) {
      return `its limit ${name} ${limits[name]} leaves ${formatQuantity(Math.max(0, rest[name] ?? 0), name)}, less than its smallest instance type has (${formatQuantity(least, name)}); raise spec.limits.${name}`;
    }
  }
  return undefined;
}

/** Limits that exclude every type on which the pod would fit. */
function limitText(attempt: Attempt, template: Template, ask: Ask, types: Uint32Array): string | undefined {
  const rest = attempt.limits.left(template);
  if (rest === undefined) return undefined;
  const suitable = members(types).filter((t) => hasBit(template.types, t) && shortfall(attempt, template, ask, t).length === 0);
  const blocked = suitable.filter((t) =>
    Object.keys(rest).some((name) => name !== "nodes" && (template.table.capacity[t]?.[name] ?? 0) > (rest[name] ?? 0)),
  );
  if (suitable.length === 0 || blocked.length < suitable.length) return undefined;
  const left = Object.keys(rest)
    .sort()
    .map((name) => `${name} ${formatQuantity(Math.max(0, rest[name] ?? 0), name)}`);
  return `all ${suitable.length} instance types that would fit exceed what its limits leave (${left.join(", ")}); raise spec.limits`;
}

function noType(template: Template, ask: Ask): string {
  for (const item of [...ask.set.requirements.values()].sort((a, b) => (a.key < b.key ? -1 : 1))) {
    const agreeing = template.table.agreeing(item);
    if (agreeing !== undefined && !overlap(template.types, agreeing))
      return `none of its ${members(template.types).length} instance types has ${describe(item)}`;
  }
  const wants = [...ask.set.requirements.values()].map(describe).sort().join(", ");
  return `no instance type with an available offering meets all of ${wants} together`;
}

function fitsSome(attempt: Attempt, template: Template, ask: Ask, types: Uint32Array): boolean {
  return members(types).some((t) => hasBit(template.types, t) && shortfall(attempt, template, ask, t).length === 0);
}

interface Missing {
  readonly name: string;
  readonly asked: number;
  readonly room: number;
}

/** Resources of which a type has less than the pod asks, daemons taken off. */
function shortfall(attempt: Attempt, template: Template, ask: Ask, t: number): readonly Missing[] {
  const { names } = attempt.world.axis;
  return names.flatMap((name, r) => {
    const room = template.room[t * names.length + r] ?? 0;
    const asked = ask.vector[r] ?? 0;
    return asked > room ? [{ name, asked, room: Math.max(0, room) }] : [];
  });
}

/** The type that comes nearest to having room, and what it lacks. */
function closest(attempt: Attempt, template: Template, ask: Ask, types: Uint32Array): string {
  const candidates = members(types).filter((t) => hasBit(template.types, t));
  let best: { t: number; missing: readonly Missing[]; distance: number } | undefined;
  for (const t of candidates) {
    const missing = shortfall(attempt, template, ask, t);
    const distance = missing.reduce((sum, { asked, room }) => sum + 1 - room / asked, 0);
    if (best === undefined || distance < best.distance) best = { t, missing, distance };
  }
  if (best === undefined) return "no instance type is left for the pod";
  const lacks = best.missing.map(
    ({ name, asked, room }) => `${formatQuantity(room, name)} of the ${formatQuantity(asked, name)} ${name} asked`,
  );
  const port =
    ask.class.ports.length > 0 && takenPort(ask.class.ports, template.daemonGroups[template.daemonGroupOf[best.t] ?? 0]?.ports ?? []);
  const clash = port ? `, and port ${port.port} is taken by a daemonset` : "";
  return `none of ${candidates.length} instance types has room; the closest, ${template.table.types[best.t]?.name}, has ${lacks.join(" and ")} after daemonsets${clash}`;
}

function topologyText(attempt: Attempt, group: TopologyGroup, ask: Ask): string {
  const counts = [...(attempt.topology.counts[group.index] ?? [])].sort(([a], [b]) => (a < b ? -1 : 1));
  const shown = counts.slice(0, 6).map(([domain, n]) => `${domain}: ${n}`);
  const where = `${group.key} (${shown.length === 0 ? "no domain is known" : `pods there now: ${shown.join(", ")}${counts.length > 6 ? ", …" : ""}`})`;
  const wanted = ask.strict.get(group.key);
  const within = wanted === undefined ? "" : `; the pod itself allows ${describe(wanted)}`;
  switch (group.kind) {
    case "spread":
      return `topology spread with maxSkew ${group.maxSkew} allows no domain of ${where}${within}`;
    case "affinity":
      return `pod affinity finds no matching pod in any usable domain of ${where}${within}`;
    case "anti":
      return `pod anti-affinity leaves no free domain of ${where}${within}`;
    case "inverse":
      return `the anti-affinity of other pods leaves no free domain of ${where}${within}`;
  }
}
