import { MAX_PRICE_PER_HOUR } from "../model/labels.ts";
import type { NodePool } from "../model/node-pool.ts";

/** A positive decimal number, as docs/recipes.md asks for; no sign, no exponent, no unit. */
const DOLLARS = /^\d{1,9}(\.\d{1,6})?$/;

/** A price cap as written, in USD per hour; undefined for a text that is none. */
export function readDollars(text: string): number | undefined {
  return DOLLARS.test(text) ? Number(text) : undefined;
}

/**
 * The most that the nodes of a NodePool may cost together, USD per hour: the annotation
 * `karpenter-serverless/max-price-per-hour`. Undefined without one, and for one that cannot be read.
 */
export function maxPricePerHour({ metadata }: Pick<NodePool, "metadata">): number | undefined {
  return readDollars(metadata.annotations?.[MAX_PRICE_PER_HOUR] ?? "");
}

/** What is wrong with that annotation, in one sentence; undefined when nothing is. */
export function maxPriceProblem({ metadata }: Pick<NodePool, "metadata">): string | undefined {
  const text = metadata.annotations?.[MAX_PRICE_PER_HOUR];
  if (text === undefined || readDollars(text) !== undefined) return undefined;
  return `metadata.annotations: ${MAX_PRICE_PER_HOUR} is "${text.slice(0, 40)}"; write dollars an hour as a number, such as "12.50"`;
}
