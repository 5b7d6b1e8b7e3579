// core/requirements: sets of allowed label values, their intersection and compatibility, and their validation.
// Manifest requirements and labels come in; sets, conflicts and problems go out. Pods, nodes and offerings must not be
// known here.

import { MAX_INT64, parseInt64 } from "../lib/int64.ts";
import type { NodeSelectorRequirementWithMinValues, RequirementOperator } from "../model/node-pool.ts";

/**
 * The set of values that a label may have. With `complement` false: exactly `values`; an empty set means that the label
 * must be absent. With `complement` true: every value except `values`, and an absent label; bounds then limit it to
 * integers between them (karpenter: pkg/scheduling/requirement.go, Requirement).
 * @example
 * const zones = requirement("topology.kubernetes.io/zone", "In", ["eu-west-1a", "eu-west-1b"]);
 * has(intersect(zones, requirement(zones.key, "NotIn", ["eu-west-1a"])), "eu-west-1b"); // true
 */
export interface Requirement {
  readonly key: string;
  readonly complement: boolean;
  readonly values: ReadonlySet<string>;
  /** Smallest allowed integer, from 0 on, because no label value begins with a minus. */
  readonly gte?: bigint;
  /** Greatest allowed integer of 64 bits. */
  readonly lte?: bigint;
  /**
   * The label must be present, whatever values are excluded: NotIn intersected with Exists. Karpenter's algebra cannot
   * distinguish it from NotIn alone.
   */
  readonly exists?: true;
  /**
   * Contradictory requirements: no value meets them, nor does an absent label. Karpenter takes this for DoesNotExist,
   * and launches nodes for such pods.
   */
  readonly never?: true;
  /** How many different values the chosen instance types must offer. */
  readonly minValues?: number;
}

const NONE: ReadonlySet<string> = new Set();

export const OPERATORS: ReadonlySet<string> = new Set(["In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt", "Gte", "Lte"]);

/**
 * Whether a requirement can be evaluated. The API server accepts some that cannot (Gt with a word, in node affinity).
 * kube-scheduler treats a term that contains one as a term that no node meets. So does `requirementsFrom`, because one
 * invalid object must not stop the others.
 */
export function isReadable({ operator, values = [] }: { readonly operator: string; readonly values?: readonly string[] }): boolean {
  if (!OPERATORS.has(operator)) return false;
  return !["Gt", "Lt", "Gte", "Lte"].includes(operator) || (values.length === 1 && parseInt64(values[0] ?? "") !== undefined);
}

/** A requirement that no node meets. */
export const unmet = (key: string): Requirement => ({ key, complement: false, values: NONE, never: true });

interface Bounds {
  readonly gte: bigint | undefined;
  readonly lte: bigint | undefined;
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

/**
 * A requirement from its parts. Throws RangeError when Gt, Gte, Lt or Lte does not have exactly one integer of 64 bits.
 */
export function requirement(key: string, operator: RequirementOperator, values: readonly string[] = [], minValues?: number): Requirement {
  const bounds = (): Bounds => ({ gte: undefined, lte: undefined, minValues });
  const within = (gte: bigint | undefined, lte: bigint | undefined): Requirement =>
    (gte ?? 0n) > MAX_INT64 || (lte ?? 0n) < 0n
      ? { ...make(key, false, NONE, bounds()), never: true }
      : make(key, true, NONE, { gte: gte !== undefined && gte < 0n ? 0n : gte, lte, minValues });
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
      return within(integerOf(key, operator, values) + 1n, undefined);
    case "Gte":
      return within(integerOf(key, operator, values), undefined);
    case "Lt":
      return within(undefined, integerOf(key, operator, values) - 1n);
    case "Lte":
      return within(undefined, integerOf(key, operator, values));
  }
}

function integerOf(key: string, operator: string, values: readonly string[]): bigint {
  const [value] = values;
  const integer = values.length === 1 && value !== undefined ? parseInt64(value) : undefined;
  if (integer === undefined) {
    throw new RangeError(`requirement ${key} ${operator} takes exactly one integer of 64 bits, not ${JSON.stringify(values).slice(0, 80)}`);
  }
  return integer;
}

/** The operator of the set without its bounds. */
export function operatorOf(r: Requirement): "In" | "NotIn" | "Exists" | "DoesNotExist" {
  if (r.complement) return r.values.size > 0 ? "NotIn" : "Exists";
  return r.values.size > 0 ? "In" : "DoesNotExist";
}

/**
 * Whether a node without the label meets the requirement: true for NotIn and DoesNotExist, false for bounds, because
 * kube-scheduler needs a number to compare. Karpenter looks only at the derived operator.
 */
export function allowsAbsent(r: Requirement): boolean {
  if (r.never || r.exists || r.gte !== undefined || r.lte !== undefined) return false;
  return r.complement === r.values.size > 0;
}

function inBounds({ gte, lte }: { readonly gte?: bigint; readonly lte?: bigint }, value: string): boolean {
  if (gte === undefined && lte === undefined) return true;
  const n = parseInt64(value);
  return n !== undefined && (gte === undefined || n >= gte) && (lte === undefined || n <= lte);
}

/** Whether a node's label value is allowed. */
export function has(r: Requirement, value: string): boolean {
  return r.values.has(value) !== r.complement && inBounds(r, value);
}

function least<N extends number | bigint>(a: N | undefined, b: N | undefined): N | undefined {
  return a === undefined ? b : b === undefined || a < b ? a : b;
}

function most<N extends number | bigint>(a: N | undefined, b: N | undefined): N | undefined {
  return a === undefined ? b : b === undefined || a > b ? a : b;
}

/**
 * The values that both allow. Commutative, associative and idempotent; Exists is the identity for a label that must be
 * present.
 */
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

/** Whether `intersect(a, b)` would allow any value, computed without the set. */
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

/** An equal text for equal requirements; used as a key of memo tables. */
export function canonical(r: Requirement): string {
  const values = r.values.size === 1 ? [...r.values] : [...r.values].sort();
  return `${r.key}\u0001${r.complement ? "!" : ""}${r.exists ? "+" : ""}${r.never ? "-" : ""}${values.join("\u0002")}\u0001${r.gte ?? ""}\u0001${r.lte ?? ""}\u0001${r.minValues ?? ""}`;
}

/**
 * The requirement as in manifests: one item, or Gte and Lte items when there are bounds (plus NotIn for excluded values
 * within them).
 */
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
