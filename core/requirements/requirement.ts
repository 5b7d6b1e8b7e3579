import type { NodeSelectorRequirementWithMinValues, RequirementOperator } from "../model/node-pool.ts";

/**
 * The set of values that a label may have. `complement` false: exactly `values` (none at all = the label must be absent).
 * `complement` true: anything but `values`, absent included; bounds then cut it to the integers between them.
 * Same facts as Karpenter's pkg/scheduling/requirement.go, in scheduling.md §4.
 */
export interface Requirement {
  readonly key: string;
  readonly complement: boolean;
  readonly values: ReadonlySet<string>;
  /** Least integer allowed. */
  readonly gte?: number;
  /** Greatest integer allowed. */
  readonly lte?: number;
  /** The label must be there, values excluded or not: NotIn joined with Exists, which Karpenter's algebra cannot tell from NotIn alone. */
  readonly exists?: true;
  /** Demands that exclude each other: nothing suits, absence neither. Karpenter takes it for DoesNotExist, and buys nodes for such pods. */
  readonly never?: true;
  /** How many different values the chosen instance types must offer. */
  readonly minValues?: number;
}

const NONE: ReadonlySet<string> = new Set();

interface Bounds {
  readonly gte: number | undefined;
  readonly lte: number | undefined;
  readonly minValues: number | undefined;
}

function make(key: string, complement: boolean, values: ReadonlySet<string>, bounds?: Bounds): Requirement {
  return {
    key,
    complement,
    values,
    ...(bounds?.gte === undefined ? {} : { gte: bounds.gte }),
    ...(bounds?.lte === undefined ? {} : { lte: bounds.lte }),
    ...(bounds?.minValues === undefined ? {} : { minValues: bounds.minValues }),
  };
}

/** A requirement from its parts. Throws RangeError when an order operator does not carry exactly one integer. */
export function requirement(key: string, operator: RequirementOperator, values: readonly string[] = [], minValues?: number): Requirement {
  const bounds = (gte?: number, lte?: number): Bounds => ({ gte, lte, minValues });
  switch (operator) {
    case "In":
      return values.length > 0 ? make(key, false, new Set(values), bounds()) : { ...make(key, false, NONE, bounds()), never: true };
    case "NotIn":
      return make(key, true, new Set(values), bounds());
    case "Exists":
      return make(key, true, NONE, bounds());
    case "DoesNotExist":
      return make(key, false, NONE, bounds());
    case "Gt":
      return make(key, true, NONE, bounds(integerOf(key, operator, values) + 1));
    case "Gte":
      return make(key, true, NONE, bounds(integerOf(key, operator, values)));
    case "Lt":
      return make(key, true, NONE, bounds(undefined, integerOf(key, operator, values) - 1));
    case "Lte":
      return make(key, true, NONE, bounds(undefined, integerOf(key, operator, values)));
  }
}

const INTEGER = /^[+-]?\d+$/;

function integerOf(key: string, operator: string, values: readonly string[]): number {
  const [value] = values;
  if (values.length !== 1 || value === undefined || !INTEGER.test(value)) {
    throw new RangeError(`requirement ${key} ${operator} takes exactly one integer, not ${JSON.stringify(values)}`);
  }
  return Number(value);
}

/** The operator that says the same without bounds. */
export function operatorOf(r: Requirement): "In" | "NotIn" | "Exists" | "DoesNotExist" {
  if (r.complement) return r.values.size > 0 ? "NotIn" : "Exists";
  return r.values.size > 0 ? "In" : "DoesNotExist";
}

/**
 * NotIn and DoesNotExist hold for a node that lacks the label. Bounds do not: kube-scheduler wants a number to compare, where
 * Karpenter looks at the derived operator alone.
 */
export function allowsAbsent(r: Requirement): boolean {
  if (r.never || r.exists || r.gte !== undefined || r.lte !== undefined) return false;
  return r.complement === r.values.size > 0;
}

function inBounds(r: { readonly gte?: number; readonly lte?: number }, value: string): boolean {
  if (r.gte === undefined && r.lte === undefined) return true;
  if (!INTEGER.test(value)) return false;
  const n = Number(value);
  return n >= (r.gte ?? Number.NEGATIVE_INFINITY) && n <= (r.lte ?? Number.POSITIVE_INFINITY);
}

/** Whether a node's label value is allowed. */
export function has(r: Requirement, value: string): boolean {
  return r.values.has(value) !== r.complement && inBounds(r, value);
}

function least(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined ? b : b === undefined ? a : Math.min(a, b);
}

function most(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined ? b : b === undefined ? a : Math.max(a, b);
}

/** What both allow. Commutative, associative and idempotent; where the label must be there anyway, Exists is the identity. */
export function intersect(a: Requirement, b: Requirement): Requirement {
  const bounds = { gte: most(a.gte, b.gte), lte: least(a.lte, b.lte), minValues: most(a.minValues, b.minValues) };
  if (bounds.gte !== undefined && bounds.lte !== undefined && bounds.gte > bounds.lte) {
    return { ...make(a.key, false, NONE, { gte: undefined, lte: undefined, minValues: bounds.minValues }), never: true };
  }
  const within = (values: Iterable<string>, keep: (value: string) => boolean): ReadonlySet<string> => {
    const limits = { ...(bounds.gte === undefined ? {} : { gte: bounds.gte }), ...(bounds.lte === undefined ? {} : { lte: bounds.lte }) };
    const kept = new Set<string>();
    for (const value of values) if (keep(value) && inBounds(limits, value)) kept.add(value);
    return kept;
  };
  if (a.complement && b.complement) {
    const excluded = within([...a.values, ...b.values], () => true);
    const both = make(a.key, true, excluded, bounds);
    return allowsAbsent(both) && !(allowsAbsent(a) && allowsAbsent(b)) ? { ...both, exists: true } : both;
  }
  const values = a.complement ? within(b.values, (v) => !a.values.has(v)) : within(a.values, (v) => b.values.has(v) !== b.complement);
  const rest = make(a.key, false, values, { gte: undefined, lte: undefined, minValues: bounds.minValues });
  return values.size > 0 || (allowsAbsent(a) && allowsAbsent(b)) ? rest : { ...rest, never: true };
}

/** Whether `intersect(a, b)` would allow any value, without building it. */
export function overlaps(a: Requirement, b: Requirement): boolean {
  if (a.complement && b.complement) {
    const gte = most(a.gte, b.gte);
    const lte = least(a.lte, b.lte);
    return gte === undefined || lte === undefined || gte <= lte;
  }
  const [finite, other] = a.complement ? [b, a] : [a, b];
  for (const value of finite.values) if (has(other, value) && inBounds(finite, value)) return true;
  return false;
}

/** The same text for equal requirements; orders keys in memo tables. */
export function canonical(r: Requirement): string {
  const values = r.values.size === 1 ? [...r.values] : [...r.values].sort();
  return `${r.key}\u0001${r.complement ? "!" : ""}${r.exists ? "+" : ""}${r.never ? "-" : ""}${values.join("\u0002")}\u0001${r.gte ?? ""}\u0001${r.lte ?? ""}\u0001${r.minValues ?? ""}`;
}

/** As manifests write it: one item, or Gte and Lte items when there are bounds (plus NotIn for values excluded inside them). */
export function serialize(r: Requirement): readonly NodeSelectorRequirementWithMinValues[] {
  const extra = r.minValues === undefined ? {} : { minValues: r.minValues };
  const items: NodeSelectorRequirementWithMinValues[] = [];
  if (r.gte !== undefined) items.push({ key: r.key, operator: "Gte", values: [String(r.gte)], ...extra });
  if (r.lte !== undefined) items.push({ key: r.key, operator: "Lte", values: [String(r.lte)], ...extra });
  if (items.length > 0 && r.values.size === 0) return items;
  if (r.exists) items.push({ key: r.key, operator: "Exists", ...extra });
  const values = [...r.values].sort();
  return [...items, { key: r.key, operator: operatorOf(r), ...(values.length > 0 ? { values } : {}), ...extra }];
}
