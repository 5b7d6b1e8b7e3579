import { wrapped } from "#terminal/columns.ts";
import { CALL_MS, type CostBill, type Fleet, type Parts } from "./bill.ts";
import type { Peer } from "./peers.ts";

export const PART_NAMES: Readonly<Record<keyof Parts, string>> = {
  lambda: "Lambda",
  dynamodb: "DynamoDB",
  sqs: "SQS",
  eventbridge: "EventBridge Scheduler",
  logs: "CloudWatch Logs",
  metrics: "CloudWatch metrics",
  alarms: "CloudWatch alarms",
  secrets: "Secrets Manager",
  endpoints: "interface endpoints",
};

/** "$0.04", "$3.17", "$1,682". */
export const amount = (usd: number): string => (usd < 100 ? `$${usd.toFixed(2)}` : `$${Math.round(usd).toLocaleString("en-US")}`);

/** The bill as text: its parts, its sum, and what else costs how much. */
export function costTable(
  fleet: Fleet,
  bill: CostBill & { readonly range: { readonly low: number; readonly high: number } },
  peers: readonly Peer[],
  largestMeasured: number,
): string {
  const rows = (Object.keys(PART_NAMES) as (keyof Parts)[])
    .filter((part) => bill.parts[part] > 0)
    .map((part) => [PART_NAMES[part], amount(bill.parts[part])] as const);
  const sums = [
    ["a month", amount(bill.perMonth)] as const,
    [`where a remote call takes ${CALL_MS.low} ms`, amount(bill.range.low)] as const,
    [`where a remote call takes ${CALL_MS.high} ms`, amount(bill.range.high)] as const,
    ...(fleet.clusters > 1 ? [["for each cluster", amount(bill.perCluster)] as const] : []),
  ];
  const others = peers.map(({ name, perMonth }) => [name, amount(perMonth)] as const);
  const all = [...rows, ...sums, ...others];
  const [left, right] = [0, 1].map((column) => Math.max(...all.map((row) => row[column]?.length ?? 0))) as [number, number];
  const line = ([name, usd]: readonly [string, string]): string => `${name.padEnd(left)}  ${usd.padStart(right)}`;
  return [
    `${title(fleet)}:`,
    "",
    ...rows.map(line),
    ...sums.map(line),
    "",
    "Beside it, for the same clusters, a month:",
    "",
    ...others.map(line),
    "",
    ...remarks(fleet, largestMeasured).flatMap((remark) => wrapped(remark)),
    "",
  ].join("\n");
}

/** "20 clusters of 100 nodes, of which 5 % are replaced in a day". */
export function title({ clusters, nodes, churnPerDay }: Fleet): string {
  const of = `${clusters.toLocaleString("en-US")} ${clusters === 1 ? "cluster" : "clusters"}`;
  if (nodes === 0) return `${of} without a node`;
  const size = `${of} of ${nodes.toLocaleString("en-US")} ${nodes === 1 ? "node" : "nodes"}`;
  return churnPerDay === 0
    ? `${size}, which stay`
    : `${size}, of which ${Number((churnPerDay * 100).toFixed(2)).toLocaleString("en-US")} % are replaced in a day`;
}

function remarks({ sources, nodes, callMs, freeTier }: Fleet, largestMeasured: number): readonly string[] {
  return [
    `Counts are of the lab's simulation, a remote call takes ${callMs} ms, prices are AWS's list prices of us-east-1 and us-west-2, ${freeTier ? "less what each account has for nothing" : "without free tiers"}.`,
    ...(nodes > largestMeasured
      ? [
          `No cluster of more than ${largestMeasured} nodes was measured: the figures of ${nodes.toLocaleString("en-US")} continue its line.`,
        ]
      : []),
    ...(sources.includes("audit") ? ["EKS's audit log itself, $0.50 a GB, is not in it."] : []),
  ];
}
