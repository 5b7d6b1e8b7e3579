import { parseResources, type Resources } from "../../model/quantity.ts";
import type { Template } from "../template.ts";
import { amountText, counted } from "./words.ts";

/**
 * Why the pool's limits keep out every one of the types that would hold the pod, and how far to raise them; undefined when they do not. `left` is
 * what they leave now, in milli-units.
 */
export function limitText(template: Template, left: Resources | undefined, roomy: readonly number[]): string | undefined {
  if (left === undefined || roomy.length === 0) return undefined;
  const limits = parseResources(template.pool.spec.limits);
  if ((left["nodes"] ?? 1000) < 1000) {
    const most = (limits["nodes"] ?? 0) / 1000;
    return `its limit of ${counted(most, "node")} is reached; raise spec.limits.nodes`;
  }
  let best: { readonly t: number; readonly over: readonly string[]; readonly excess: number } | undefined;
  for (const t of roomy) {
    const capacity = template.table.capacity[t] ?? {};
    const over = Object.keys(left).filter((name) => name !== "nodes" && (capacity[name] ?? 0) > (left[name] ?? 0));
    if (over.length === 0) return undefined;
    const excess = over.reduce((sum, name) => sum + ((capacity[name] ?? 0) - (left[name] ?? 0)) / Math.max(1, capacity[name] ?? 0), 0);
    if (best === undefined || excess < best.excess) best = { t, over: over.sort(), excess };
  }
  if (best === undefined) return undefined;
  const { t, over } = best;
  const { name: type = "" } = template.table.types[t] ?? {};
  const capacity = template.table.capacity[t] ?? {};
  const leaves = over.map(
    (name) => `its limit ${name} ${amountText(limits[name] ?? 0, name)} leaves ${amountText(Math.max(0, left[name] ?? 0), name)}`,
  );
  const has = over.map((name) => `${name} ${amountText(capacity[name] ?? 0, name)}`);
  const used = (name: string): number => (limits[name] ?? 0) - (left[name] ?? 0);
  const raise = over.map((name) => `spec.limits.${name} to ${amountText(used(name) + (capacity[name] ?? 0), name, "up")} or more`);
  return `${leaves.join(" and ")}, and the smallest instance type that holds the pod, ${type}, has ${has.join(" and ")}; raise ${raise.join(" and ")}`;
}
