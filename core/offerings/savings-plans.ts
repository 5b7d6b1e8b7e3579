import { type PaidFor, paidKey } from "../model/paid-capacity.ts";

/** A Savings Plan, or another commitment, as an operator writes it. */
export interface SavingsPlan {
  readonly of: PaidFor;
  /** What it pays for, USD per hour at on-demand prices. */
  readonly perHour: number;
}

const PLAN = /^([a-z][a-z0-9-]*|\*)=(\d+(?:\.\d+)?)(?:@(\d+(?:\.\d+)?)%)?$/;

/** How the text is written, for the sentence about one that cannot be read. */
export const SAVINGS_PLANS_FORM = 'a list such as m5=3.60,*=10@28%, which is FAMILY=DOLLARS an hour[@DISCOUNT%], or "none"';

/**
 * Reads Savings Plans: "m5=3.60" pays for m5 machines of $3.60 an hour at on-demand prices; "*=10@28%" is a commitment
 * of $10 an hour whose prices are 28 % below those on demand, so that it pays for machines of $13.89. Commitments of
 * one family add up. Undefined when the text is none.
 */
export function readSavingsPlans(text: string): readonly SavingsPlan[] | undefined {
  if (text.trim() === "none") return [];
  const plans = new Map<string, SavingsPlan>();
  for (const part of text.split(",")) {
    const [, family, dollars, percent = "0"] = PLAN.exec(part.trim()) ?? [];
    const discount = Number(percent) / 100;
    if (family === undefined || dollars === undefined || discount >= 1) return undefined;
    const of: PaidFor = family === "*" ? { kind: "any" } : { kind: "family", family };
    const key = paidKey(of);
    plans.set(key, { of, perHour: (plans.get(key)?.perHour ?? 0) + Number(dollars) / (1 - discount) });
  }
  return [...plans.values()];
}
