import type { LabelSelector } from "../../model/kubernetes.ts";
import { formatQuantity } from "../../model/quantity.ts";
import type { Requirement } from "../../requirements/requirement.ts";

export { listed } from "../../lib/listed.ts";

/** "1 pod", "2 pods". */
export function counted(n: number, noun: string): string {
  return `${n} ${noun}${n === 1 ? "" : "s"}`;
}

/** Sorts numbers by size, other texts by their characters. */
export function inOrder(values: Iterable<string>): readonly string[] {
  return [...values].sort((a, b) => Number(a) - Number(b) || (a < b ? -1 : 1));
}

/** By label: the unit of its numbers, where users often assume another. */
const UNITS: ReadonlyMap<string, string> = new Map(
  Object.entries({ memory: "MiB", "gpu-memory": "MiB", "ebs-bandwidth": "Mbps", "network-bandwidth": "Mbps", "local-nvme": "GB" }).map(
    ([name, unit]) => [`karpenter.k8s.aws/instance-${name}`, unit],
  ),
);

/**
 * A requirement in the syntax of label selectors: "team=blue", "team in (a, b)", "cpu >= 5 and cpu <= 8", "no label
 * team".
 */
export function requirementText({ key, complement, values, gte, lte, never }: Requirement): string {
  if (never) return `${key} with demands that exclude each other`;
  const list = inOrder(values);
  const shown = list.length > 8 ? `${list.slice(0, 8).join(", ")} and ${list.length - 8} more` : list.join(", ");
  if (!complement) return list.length === 0 ? `no label ${key}` : list.length === 1 ? `${key}=${shown}` : `${key} in (${shown})`;
  const unit = UNITS.get(key);
  const amount = (n: bigint): string => (unit === undefined ? String(n) : `${n} ${unit}`);
  const parts = [
    ...(gte === undefined ? [] : [`${key} >= ${amount(gte)}`]),
    ...(lte === undefined ? [] : [`${key} <= ${amount(lte)}`]),
    ...(list.length === 0 ? [] : [`${key} notin (${shown})`]),
  ];
  return parts.length === 0 ? `a label ${key}` : parts.join(" and ");
}

/** "app=web, tier in (a, b)"; "any labels" for an empty selector. */
export function selectorText(selector: LabelSelector | undefined): string {
  const parts = [
    ...Object.entries(selector?.matchLabels ?? {}).map(([key, value]) => `${key}=${value}`),
    ...(selector?.matchExpressions ?? []).map(({ key, operator, values = [] }) => {
      if (operator === "Exists") return `label ${key}`;
      if (operator === "DoesNotExist") return `no label ${key}`;
      return values.length === 1 && operator === "In"
        ? `${key}=${values[0]}`
        : `${key} ${operator === "In" ? "in" : "notin"} (${values.join(", ")})`;
    }),
  ];
  return parts.length === 0 ? "any labels" : parts.sort().join(", ");
}

const BYTES: readonly (readonly [string, number])[] = [
  ["Ti", 2 ** 40],
  ["Gi", 2 ** 30],
  ["Mi", 2 ** 20],
  ["Ki", 2 ** 10],
];

/**
 * Milli-units as a quantity with at most two decimals: "15.9", "250m", "62.84Gi". `round`: the direction of rounding.
 */
export function amountText(milli: number, resource: string, round: "up" | "down" = "down"): string {
  const cut = (value: number): number => (round === "up" ? Math.ceil(value * 100 - 1e-6) : Math.floor(value * 100 + 1e-6)) / 100;
  const isBytes = resource === "memory" || resource === "ephemeral-storage" || resource.startsWith("hugepages-");
  if (!isBytes) return milli < 1000 ? formatQuantity(milli, resource) : String(cut(milli / 1000));
  const units = milli / 1000;
  const [suffix, size] = BYTES.find(([, bytes]) => units >= bytes) ?? ["", 1];
  return `${cut(units / size)}${suffix}`;
}
