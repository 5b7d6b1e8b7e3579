import { ownValue } from "#core/lib/own-value.ts";
import type { KubernetesObject, LabelSelector } from "#core/model/kubernetes.ts";

/** Whether labels match a selector. As in the API, an absent selector matches nothing, and an empty one everything. */
export function matchesSelector(selector: LabelSelector | undefined, labels: Readonly<Record<string, string>> = {}): boolean {
  if (!selector) return false;
  for (const [key, value] of Object.entries(selector.matchLabels ?? {})) if (ownValue(labels, key) !== value) return false;
  for (const { key, operator, values = [] } of selector.matchExpressions ?? []) {
    const value = ownValue(labels, key);
    if (operator === "Exists" && value === undefined) return false;
    if (operator === "DoesNotExist" && value !== undefined) return false;
    if (operator === "In" && (value === undefined || !values.includes(value))) return false;
    if (operator === "NotIn" && value !== undefined && values.includes(value)) return false;
  }
  return true;
}

/** A label selector in its text form ("a=b,c!=d,e in (f,g),!h") as a test of labels. Throws Error with a sentence. */
export function parseLabelSelector(text: string): (labels: Readonly<Record<string, string>>) => boolean {
  const tests = text
    .split(/,(?![^(]*\))/)
    .map((part) => part.trim())
    .filter((part) => part !== "")
    .map(labelTest);
  return (labels) => tests.every((test) => test(labels));
}

function labelTest(part: string): (labels: Readonly<Record<string, string>>) => boolean {
  const set = /^([\w./-]+)\s+(in|notin)\s+\(([^)]*)\)$/.exec(part);
  if (set?.[1] !== undefined) {
    const [, key, operator, list = ""] = set;
    const values = list.split(",").map((v) => v.trim());
    return (labels) => {
      const value = ownValue(labels, key);
      return operator === "in" ? value !== undefined && values.includes(value) : value === undefined || !values.includes(value);
    };
  }
  const equality = /^([\w./-]+)\s*(==|=|!=)\s*([\w.-]*)$/.exec(part);
  if (equality?.[1] !== undefined) {
    const [, key, operator, wanted] = equality;
    return (labels) => (ownValue(labels, key) === wanted) !== (operator === "!=");
  }
  const exists = /^(!?)\s*([\w./-]+)$/.exec(part);
  if (exists?.[2] !== undefined) {
    const [, not, key] = exists;
    return (labels) => (ownValue(labels, key) !== undefined) !== (not === "!");
  }
  throw new Error(`cannot read the label selector "${part}"; write it as key=value, key!=value, key in (a,b), key or !key`);
}

/**
 * A field selector ("spec.nodeName=x,status.phase!=Failed") as a test of objects. An absent field counts as empty.
 * Throws Error with a sentence.
 */
export function parseFieldSelector(text: string): (object: KubernetesObject) => boolean {
  const tests = text
    .split(",")
    .filter((part) => part.trim() !== "")
    .map((part) => {
      const parsed = /^([\w.-]+)\s*(==|=|!=)\s*(.*)$/.exec(part.trim());
      if (!parsed?.[1]) throw new Error(`cannot read the field selector "${part}"; write it as path=value or path!=value`);
      const path = parsed[1].split(".");
      const [, , operator, wanted = ""] = parsed;
      return (object: KubernetesObject) => {
        let value: unknown = object;
        for (const step of path) value = (value as Record<string, unknown> | undefined)?.[step];
        return (String(value ?? "") === wanted) !== (operator === "!=");
      };
    });
  return (object) => tests.every((test) => test(object));
}
