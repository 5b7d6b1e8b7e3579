import { matchesPattern } from "./pattern.ts";

/** Operator → key → values, as in a policy. */
export type Condition = Readonly<Record<string, Readonly<Record<string, string | readonly string[]>>>>;

/** The context of a request: condition key → value, or the values of a multivalued key (aws:TagKeys). */
export type RequestContext = Readonly<Record<string, string | readonly string[]>>;

type Compare = (wanted: string, found: string) => boolean;

const equal: Compare = (wanted, found) => wanted === found;

/**
 * Operators that compare the value of a key with each value of the policy; a negated operator holds when no value
 * matches.
 */
const COMPARISONS: Readonly<Record<string, { readonly compare: Compare; readonly negated?: true }>> = {
  StringEquals: { compare: equal },
  StringNotEquals: { compare: equal, negated: true },
  StringLike: { compare: matchesPattern },
  StringNotLike: { compare: matchesPattern, negated: true },
  ArnEquals: { compare: matchesPattern },
  ArnLike: { compare: matchesPattern },
  Bool: { compare: (wanted, found) => wanted.toLowerCase() === found.toLowerCase() },
};

/**
 * Whether every operator and key of a condition holds. Throws on an unknown operator, because a guess would make the
 * whole proof worthless. As in IAM, keys are compared without regard to case; tag keys are part of the condition key.
 */
export function holds(condition: Condition | undefined, context: RequestContext): boolean {
  const byKey = new Map(Object.entries(context).map(([key, value]) => [key.toLowerCase(), list(value)]));
  return Object.entries(condition ?? {}).every(([operator, keys]) =>
    Object.entries(keys).every(([key, wanted]) => keyHolds(operator, list(wanted), byKey.get(key.toLowerCase()))),
  );
}

/** The condition keys of a statement. */
export function keysOf(condition: Condition | undefined): readonly string[] {
  return [...new Set(Object.values(condition ?? {}).flatMap((keys) => Object.keys(keys)))].sort();
}

function keyHolds(written: string, wanted: readonly string[], found: readonly string[] | undefined): boolean {
  if (written === "Null") return wanted.some((value) => (value.toLowerCase() === "true") === (found === undefined));
  const [, set, operator = "", ifExists] = /^(?:(ForAllValues|ForAnyValue):)?(\w+?)(IfExists)?$/.exec(written) ?? [];
  const known = COMPARISONS[operator];
  if (known === undefined) throw new Error(`The condition operator ${written} is not known to test/e2e/iam/conditions.ts; add it there.`);
  const one = (value: string): boolean => wanted.some((pattern) => known.compare(pattern, value)) !== (known.negated ?? false);
  if (set === "ForAllValues") return (found ?? []).every(one);
  if (found === undefined) return ifExists !== undefined || (known.negated ?? false);
  return set === "ForAnyValue" ? found.some(one) : found.length > 0 && found.every(one);
}

function list(value: string | readonly string[]): readonly string[] {
  return typeof value === "string" ? [value] : value;
}
