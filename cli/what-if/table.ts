import type { Bill, BillRow } from "#core/insight/what-if/bill.ts";
import type { WhatIf } from "#core/insight/what-if/what-if.ts";
import { HOURS_A_MONTH } from "#core/model/prices.ts";
import { WIDTH } from "#terminal/columns.ts";

/** How many lines the table has for instance types; beyond it, the types whose cost changes least share a line. */
const MAX_TYPE_LINES = 30;
/** Columns in front of the bills. */
const LABELS = 3;

/** "$36.50", "$5845". */
export const dollars = (amount: number): string => `$${amount.toFixed(Math.abs(amount) < 100 ? 2 : 0)}`;

/** One line: a kind of node, with its number and price in each bill. */
interface Line {
  readonly nodePool: string;
  readonly instanceType: string;
  readonly capacityType: string;
  readonly amounts: readonly Pick<BillRow, "nodes" | "pricePerHour">[];
}

/**
 * Bills side by side: nodes and USD per hour by NodePool, type and capacity type, with sums for each pool, for all
 * pools, and for a month.
 */
export function billTable({ today, unchanged, changed }: WhatIf): readonly string[] {
  const bills: readonly (readonly [string, Bill])[] = [
    ["TODAY", today],
    [changed ? "LEFT ALONE" : "THEN", unchanged.bill],
    ...(changed ? [["CHANGED", changed.bill] as const] : []),
  ];
  const lines = linesOf(bills.map(([, bill]) => bill));
  const pools = [...Map.groupBy(lines, ({ nodePool }) => nodePool)];
  const cells = [
    ["NODEPOOL", "TYPE", "CAPACITY", ...bills.flatMap(([name]) => [name, "$/H"])],
    ...pools.flatMap(([, own]) => [...folded(own, lines), ...(pools.length > 1 ? [summed(own, "all")] : [])].map(rowOf)),
    rowOf({ ...summed(lines, ""), nodePool: "all" }),
    ["a month", "", "", ...bills.flatMap(([, { pricePerHour }]) => ["", dollars(pricePerHour * HOURS_A_MONTH)])],
  ];
  const widths = (cells[0] ?? []).map((_, column) => Math.max(...cells.map((row) => (row[column] ?? "").length)));
  const pad = (cell: string, column: number): string => {
    const width = widths[column] ?? 0;
    // The wider gap separates the bills.
    return column < LABELS ? cell.padEnd(width) : cell.padStart(width + (column % 2));
  };
  const rows = cells.map((row) => row.map(pad));
  if (rows.every((row) => row.join("  ").trimEnd().length <= WIDTH)) return rows.map((row) => row.join("  ").trimEnd());
  // On a narrow terminal the bills stand below what they are about.
  return rows.flatMap((row) => [row.slice(0, LABELS).join("  "), row.slice(LABELS).join(" ")]).map((line) => line.trimEnd());
}

function linesOf(bills: readonly Bill[]): readonly Line[] {
  const keyOf = ({ nodePool, instanceType, capacityType }: BillRow): string => [nodePool, instanceType, capacityType].join(" ");
  const rows = new Map(bills.flatMap((bill) => bill.rows).map((row) => [keyOf(row), row]));
  return [...rows]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, { nodePool, instanceType, capacityType }]) => {
      const amounts = bills.map((bill) => bill.rows.find((row) => keyOf(row) === key) ?? { nodes: 0, pricePerHour: 0 });
      return { nodePool, instanceType: instanceType || "(on its way)", capacityType, amounts };
    });
}

/** The lines of a pool. Where the table would be too long, the lines that change least are summed into one. */
function folded(own: readonly Line[], all: readonly Line[]): readonly Line[] {
  const byChange = all.toSorted((a, b) => changeOf(b) - changeOf(a));
  const shown = new Set(byChange.slice(0, MAX_TYPE_LINES));
  const rest = own.filter((line) => !shown.has(line));
  return rest.length < 2 ? own : [...own.filter((line) => shown.has(line)), summed(rest, `(${rest.length} more)`)];
}

function changeOf({ amounts }: Line): number {
  const prices = amounts.map(({ pricePerHour }) => pricePerHour);
  return Math.max(...prices) - Math.min(...prices);
}

function summed(lines: readonly Line[], instanceType: string): Line {
  const amounts = (lines[0]?.amounts ?? []).map((_, i) => ({
    nodes: lines.reduce((sum, line) => sum + (line.amounts[i]?.nodes ?? 0), 0),
    pricePerHour: lines.reduce((sum, line) => sum + (line.amounts[i]?.pricePerHour ?? 0), 0),
  }));
  return { nodePool: lines[0]?.nodePool ?? "", instanceType, capacityType: "", amounts };
}

function rowOf({ nodePool, instanceType, capacityType, amounts }: Line): readonly string[] {
  const texts = amounts.flatMap(({ nodes, pricePerHour }) => (nodes === 0 ? ["-", "-"] : [String(nodes), pricePerHour.toFixed(3)]));
  return [nodePool, instanceType, capacityType, ...texts];
}
