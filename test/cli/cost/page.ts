import { billOf, type Fleet, type Parts, PRICES, STACK } from "#cli/cost/bill.ts";
import measured from "#cli/cost/measured.json" with { type: "json" };
import { peersOf } from "#cli/cost/peers.ts";
import { amount, PART_NAMES, title } from "#cli/cost/table.ts";
import { wrap } from "#core/lib/wrap.ts";

const ONE: Fleet = {
  ...{ clusters: 1, nodes: 0, churnPerDay: 0, sources: ["notify", "sweep"], metrics: "essential", hasAlarms: false, endpoints: 0 },
};

const FLEETS: readonly Fleet[] = [
  ONE,
  { ...ONE, nodes: 100 },
  { ...ONE, nodes: 100, churnPerDay: 1 },
  { ...ONE, nodes: 100, churnPerDay: 10 },
  { ...ONE, nodes: 100, churnPerDay: 10, metrics: "all" },
  { ...ONE, clusters: 20, nodes: 100, churnPerDay: 0.05 },
  { ...ONE, nodes: 5_000 },
];

const LETTERS = "ABCDEFGH";
const row = (cells: readonly string[]): string => `| ${cells.join(" | ")} |`;

/** docs/costs.md. */
export function costsPage(): string {
  const bills = FLEETS.map((fleet) => billOf(fleet, measured));
  const head = ["USD a month", ...FLEETS.map((_, i) => LETTERS[i] ?? "")];
  const parts = (Object.keys(PART_NAMES) as (keyof Parts)[]).filter((part) => bills.some((bill) => bill.parts[part] > 0));
  const peers = peersOf(ONE).map(({ name }) => name);
  const largest = measured.quietHours.at(-1)?.nodes ?? 0;
  return `# What it costs

\`cost\` says what the autoscaler itself costs in a month:

\`\`\`
npm run -s cost -- --clusters 20 --nodes 100 --churn 5%/day --sources notify,sweep
\`\`\`

\`--json\` prints \`{"perMonth", "perCluster", "parts", "peers"}\` in USD. This page is made from the same figures.

${FLEETS.map((fleet, i) => `- ${LETTERS[i]}: ${title(fleet)}${fleet.metrics === "all" ? ", with `CLOUDWATCH_METRICS=all`" : ""}`).join("\n")}

${row(head)}
${row(["---", ...FLEETS.map(() => "--:")])}
${parts.map((part) => row([PART_NAMES[part], ...bills.map((bill) => amount(bill.parts[part]))])).join("\n")}
${row(["**all**", ...bills.map((bill) => `**${amount(bill.perMonth)}**`)])}
${row(["for each cluster", ...bills.map((bill) => amount(bill.perCluster))])}
${peers.map((name, i) => row([name, ...FLEETS.map((fleet) => amount(peersOf(fleet)[i]?.perMonth ?? 0))])).join("\n")}

## How it is computed

The lab plays hours of clusters of ${measured.quietHours.map(({ nodes }) => nodes).join(", ")} nodes with the real functions, and counts invocations,
remote calls, the table's request units by the bytes of each record, messages, lines of the log and metrics
(\`npm run -s verify -- bill\`, \`test/simulation/bill/\`). Ten nodes of a hundred are emptied and filled again, for what a
replaced node adds. Between the sizes the figures are on a line; clusters of more than ${largest} nodes continue it.

- Prices are AWS's list prices of us-east-1 and us-west-2 (\`cli/cost/bill.ts\`). Free tiers are left out: an account that
  uses nothing else pays less.
- The lab has no time of Lambda: 60 ms for each invocation, 10 ms for each remote call as if they were made one after
  the other, 0.2 ms for each object that has changed since the function listed it last, and 0.015 ms for each other one
  of a list. Beside local servers functions take 90 to 170 ms on the mean.
- On a real control plane a warm sweep of 5,000 nodes and 50,000 pods takes \`provision\` 0.5 s of CPU, \`disruption\` 0.8 s
  and \`lifecycle\` 0.6 s ([speed](speed.md#5000-nodes-and-50000-pods)), about 3 GB-seconds a minute and $2 a month. A
  node of the lab has one pod, and its functions make all their calls one after the other.
- Lambda asks each empty queue with five pollers, each of which waits for 20 s. That is most of an idle stack's bill,
  and the clusters of a stack share it.
- EKS's audit log, which the source \`audit\` needs, costs $0.50 a GB and is left out, and so is what flows between zones.
${historyLines()}
- On a real control plane, an hour of trouble (\`TROUBLE_MINUTES=60 npm run e2e -- trouble\`, 2026-11-26: 136 machines
  came and 135 went, by notices, crashes, deletions and consolidation) left 934 entries of 345 bytes: 6.9 for each
  machine. The command prints these figures. A decision of disruption is 541 bytes, a plan 430, the end of a machine
  371, pods that wait for a machine on its way 311; each takes two write units, those of waits one.
- Where \`alarmTopicArn\` is set (\`--alarms\`), alarms look at ${STACK.alarmMetrics} metrics, each of which costs $0.10.
`;
}

/** What the history is of the bill, by what one node leaves in it. */
function historyLines(): string {
  const { entries, bytes, writes } = measured.historyOfNode;
  const each = `${entries.toFixed(1)} entries of ${Math.round(bytes / entries)} bytes, ${(writes / entries).toFixed(1)} write units each`;
  const text = `The [history](history.md) is part of it. A node that comes and goes leaves ${each}, because the record that an entry is about is then written in a transaction, which counts twice. For a thousand such nodes that is ${amount(1_000 * writes * PRICES.tableWrite)}.`;
  return wrap(text, 118)
    .map((line, i) => (i === 0 ? `- ${line}` : `  ${line}`))
    .join("\n");
}
