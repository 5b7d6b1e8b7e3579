import { parseResources, type Resources } from "../../model/quantity.ts";
import type { Template } from "../problem/template.ts";
import { type Bitset, members } from "../tables/bitset.ts";
import { amountText, counted } from "./words.ts";

/** Types by rising share of the pool's limits that a node of the type would use. */
export function byShareOfLimits({ table, pool }: Template, types: Bitset): readonly number[] {
  const limits = Object.entries(parseResources(pool.spec.limits)).filter(([name]) => name !== "nodes");
  const share = (t: number): number =>
    limits.reduce((sum, [name, limit]) => sum + (table.amounts.capacity(name)[t] ?? 0) / Math.max(1, limit), 0);
  return members(types)
    .map((t) => ({ t, share: share(t) }))
    .sort((a, b) => a.share - b.share)
    .map(({ t }) => t);
}

/**
 * How far a pool's limits must be raised that exclude every type with room for a pod. `left` is what the limits leave
 * beside the pool's nodes and the nodes of the plan, in milli-units; `smallest` returns, of the types with room, the
 * one with the smallest share of the limits.
 */
export function limitText(template: Template, left: Resources, smallest: () => number | undefined): string {
  const limits = parseResources(template.pool.spec.limits);
  if ((left["nodes"] ?? 1000) < 1000) {
    const nodes = (limits["nodes"] ?? 0) / 1000;
    return `its limit of ${counted(nodes, "node")} is reached${besideText(template, left, "nodes", " (", ")")}; raise spec.limits.nodes to ${
      nodes + 1 - (left["nodes"] ?? 0) / 1000
    } or more`;
  }
  const t = smallest() ?? 0;
  const capacity = (name: string): number => template.table.amounts.capacity(name)[t] ?? 0;
  const over = Object.keys(left)
    .filter((name) => name !== "nodes" && capacity(name) > (left[name] ?? 0))
    .sort();
  const leaves = over.map(
    (name) =>
      `its limit ${name} ${amountText(limits[name] ?? 0, name)} leaves ${amountText(Math.max(0, left[name] ?? 0), name)}${besideText(template, left, name, " beside ")}`,
  );
  const has = over.map((name) => `${name} ${amountText(capacity(name), name)}`);
  const used = (name: string): number => (limits[name] ?? 0) - (left[name] ?? 0);
  const raise = over.map((name) => `spec.limits.${name} to ${amountText(used(name) + capacity(name), name, "up")} or more`);
  const type = `the smallest instance type that holds the pod, ${template.table.types[t]?.name}`;
  return `${leaves.join(" and ")}, and ${type}, has ${has.join(" and ")}; raise ${raise.join(" and ")}`;
}

/** What takes a limit, between two texts: "4 in use and 2 for new nodes of this run"; empty when nothing takes it. */
function besideText({ pool, remaining }: Template, left: Resources, name: string, before: string, after = ""): string {
  const limit = parseResources(pool.spec.limits)[name] ?? 0;
  const inUse = limit - (remaining?.[name] ?? limit);
  const planned = limit - inUse - (left[name] ?? 0);
  const parts = [
    ...(inUse > 0 ? [`${amountText(inUse, name)} in use`] : []),
    ...(planned > 0 ? [`${amountText(planned, name)} for new nodes of this run`] : []),
  ];
  return parts.length === 0 ? "" : `${before}${parts.join(" and ")}${after}`;
}
