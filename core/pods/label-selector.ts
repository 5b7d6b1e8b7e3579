import { ownValue } from "../lib/own-value.ts";
import type { LabelSelector } from "../model/kubernetes.ts";

type Labels = Readonly<Record<string, string>>;

/**
 * Whether labels match a selector. An absent selector selects nothing, an empty selector everything (Kubernetes' rule).
 */
export function selects(selector: LabelSelector | undefined, labels: Labels | undefined): boolean {
  if (selector === undefined) return false;
  const has = labels ?? {};
  for (const [key, value] of Object.entries(selector.matchLabels ?? {})) if (ownValue(has, key) !== value) return false;
  for (const { key, operator, values } of selector.matchExpressions ?? []) {
    const value = ownValue(has, key);
    const listed = value !== undefined && (values ?? []).includes(value);
    if (operator === "In" && !listed) return false;
    if (operator === "NotIn" && listed) return false;
    if (operator === "Exists" && value === undefined) return false;
    if (operator === "DoesNotExist" && value !== undefined) return false;
  }
  return true;
}

/** The label keys that a selector reads. */
export function keysOf(selector: LabelSelector | undefined): readonly string[] {
  return [...Object.keys(selector?.matchLabels ?? {}), ...(selector?.matchExpressions ?? []).map(({ key }) => key)];
}

/**
 * `selector` with `key In [value]` (matchLabelKeys) or NotIn (mismatchLabelKeys) for each of `keys` that the pod has.
 */
export function withLabelKeys(
  selector: LabelSelector | undefined,
  keys: readonly string[] | undefined,
  labels: Labels | undefined,
  operator: "In" | "NotIn" = "In",
): LabelSelector | undefined {
  if (selector === undefined || keys === undefined || keys.length === 0) return selector;
  const added = keys.flatMap((key) => {
    const value = ownValue(labels, key);
    return value === undefined ? [] : [{ key, operator, values: [value] } as const];
  });
  return { ...selector, matchExpressions: [...(selector.matchExpressions ?? []), ...added] };
}

/** A selector of what all selectors select. */
export function selectorOfAll(selectors: readonly (LabelSelector | undefined)[]): LabelSelector | undefined {
  const [first, ...others] = selectors;
  if (first === undefined || others.length === 0) return first;
  const matchExpressions = [...(first.matchExpressions ?? [])];
  for (const other of others) {
    if (other === undefined) return undefined;
    for (const [key, value] of Object.entries(other.matchLabels ?? {})) matchExpressions.push({ key, operator: "In", values: [value] });
    matchExpressions.push(...(other.matchExpressions ?? []));
  }
  return { ...first, matchExpressions };
}
