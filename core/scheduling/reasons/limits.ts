import { MAX_PRICE_PER_HOUR } from "../../model/labels.ts";
import { perHour } from "../../model/prices.ts";
import { parseResources, type Resources } from "../../model/quantity.ts";
import type { PriceCap } from "../../model/snapshot.ts";
import { maxPricePerHour } from "../../node-pool/max-price.ts";
import { CLUSTER_PRICE, POOL_PRICE } from "../problem/price-caps.ts";
import type { Template } from "../problem/template.ts";
import { type Bitset, members } from "../tables/bitset.ts";
import { amountText, counted } from "./words.ts";

/** How a limit is called, and what is to be raised. */
interface Named {
  /** "its limit cpu 4". */
  readonly text: string;
  readonly raise: string;
  /** In the units of `Template.remaining`. */
  readonly limit: number;
  readonly elsewhere: number;
  readonly amount: (value: number, round?: "up" | "down") => string;
}

const dollars = (micros: number): string => perHour(micros / 1e6);

function named({ pool, priceCap }: Template, name: string): Named {
  if (name === POOL_PRICE) {
    const limit = (maxPricePerHour(pool) ?? 0) * 1e6;
    return {
      text: `its price cap of ${dollars(limit)}`,
      raise: `the annotation ${MAX_PRICE_PER_HOUR}`,
      limit,
      elsewhere: 0,
      amount: dollars,
    };
  }
  if (name === CLUSTER_PRICE) {
    const limit = (priceCap?.perHour ?? 0) * 1e6;
    const elsewhere = (priceCap?.elsewhere ?? 0) * 1e6;
    return { text: `the ${priceCap?.of}'s price cap of ${dollars(limit)}`, raise: settingOf(priceCap), limit, elsewhere, amount: dollars };
  }
  const limit = parseResources(pool.spec.limits)[name] ?? 0;
  const amount = (value: number, round?: "up" | "down"): string => amountText(value, name, round);
  return { text: `its limit ${name} ${amount(limit)}`, raise: `spec.limits.${name}`, limit, elsewhere: 0, amount };
}

const settingOf = (cap: PriceCap | undefined): string =>
  `the setting ${cap?.of === "stack" ? "STACK_MAX_PRICE_PER_HOUR" : "MAX_PRICE_PER_HOUR"}`;

/** Types by rising share of the pool's limits that a node of the type would use; of equal shares the cheapest first. */
export function byShareOfLimits(template: Template, types: Bitset): readonly number[] {
  const limits = Object.keys(template.remaining ?? {})
    .filter((name) => name !== "nodes")
    .map((name) => ({ amounts: template.limited(name), limit: Math.max(1, named(template, name).limit) }));
  const share = (t: number): number => limits.reduce((sum, { amounts, limit }) => sum + (amounts[t] ?? 0) / limit, 0);
  const price = (t: number): number =>
    Math.min(...(template.table.types[t]?.offerings ?? []).flatMap((offering) => (offering.available ? [offering.price] : [])));
  return members(types)
    .map((t) => ({ t, share: share(t), price: price(t) }))
    .sort((a, b) => a.share - b.share || a.price - b.price || a.t - b.t)
    .map(({ t }) => t);
}

/**
 * How far a pool's limits must be raised that exclude every type with room for a pod. `left` is what the limits leave
 * beside the pool's nodes and the nodes of the plan, in the units of `Template.remaining`; `smallest` returns, of the
 * types with room, the one with the smallest share of the limits.
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
  const uses = (name: string): number => template.limited(name)[t] ?? 0;
  const over = Object.keys(left)
    .filter((name) => name !== "nodes" && uses(name) > (left[name] ?? 0))
    .sort();
  const leaves = over.map((name) => {
    const { text, amount } = named(template, name);
    return `${text} leaves ${amount(Math.max(0, left[name] ?? 0))}${besideText(template, left, name, " beside ")}`;
  });
  const isPrice = (name: string): boolean => name === POOL_PRICE || name === CLUSTER_PRICE;
  const amounts = over.filter((name) => !isPrice(name)).map((name) => `${name} ${named(template, name).amount(uses(name))}`);
  const price = over.find(isPrice);
  const has = [
    ...(amounts.length > 0 ? [`has ${amounts.join(" and ")}`] : []),
    ...(price === undefined ? [] : [`may cost ${dollars(uses(price))}`]),
  ];
  const raise = over.map((name) => {
    const { raise: what, limit, amount } = named(template, name);
    const enough = limit - (left[name] ?? 0) + uses(name);
    return `${what} to ${isPrice(name) ? String(enough / 1e6) : amount(enough, "up")} or more`;
  });
  const type = `the smallest instance type that holds the pod, ${template.table.types[t]?.name}`;
  return `${leaves.join(" and ")}, and ${type}, ${has.join(" and ")}; raise ${raise.join(" and ")}`;
}

/** What takes a limit, between two texts: "4 in use and 2 for new nodes of this run"; empty when nothing takes it. */
function besideText(template: Template, left: Resources, name: string, before: string, after = ""): string {
  const { limit, elsewhere, amount } = named(template, name);
  const inUse = limit - elsewhere - (template.remaining?.[name] ?? limit - elsewhere);
  const planned = limit - elsewhere - inUse - (left[name] ?? 0);
  const parts = [
    ...(inUse > 0 ? [`${amount(inUse)} in use`] : []),
    ...(elsewhere > 0 ? [`${amount(elsewhere)} in other clusters`] : []),
    ...(planned > 0 ? [`${amount(planned)} for new nodes of this run`] : []),
  ];
  return parts.length === 0 ? "" : `${before}${parts.join(" and ")}${after}`;
}
