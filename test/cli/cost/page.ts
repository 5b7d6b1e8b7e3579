import { billOf, CALL_MS, type Fleet, type Parts, PRICES, rangeOf, STACK } from "#cli/cost/bill.ts";
import measured from "#cli/cost/measured.json" with { type: "json" };
import { peersOf } from "#cli/cost/peers.ts";
import { amount, PART_NAMES, title } from "#cli/cost/table.ts";
import { wrap } from "#core/lib/wrap.ts";
import { HOURS_A_MONTH } from "#core/model/prices.ts";
import { parseSettings } from "#infra/settings.ts";
import { interfaceEndpoints } from "#infra/vpc-services.ts";

const ONE: Fleet = {
  ...{ clusters: 1, nodes: 0, churnPerDay: 0, sources: ["notify", "sweep"], metrics: "essential", hasAlarms: false, endpoints: 0 },
  ...{ callMs: CALL_MS.usual, freeTier: false },
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
  const ranges = FLEETS.map((fleet) => rangeOf(fleet, measured));
  return `# What it costs

\`cost\` says what the autoscaler itself costs in a month:

\`\`\`
npm run -s cost -- --clusters 20 --nodes 100 --churn 5%/day --sources notify,sweep
\`\`\`

${idleLines()}

${FLEETS.map((fleet, i) => `- ${LETTERS[i]}: ${title(fleet)}${fleet.metrics === "all" ? ", with `CLOUDWATCH_METRICS=all`" : ""}`).join("\n")}

${row(head)}
${row(["---", ...FLEETS.map(() => "--:")])}
${parts.map((part) => row([PART_NAMES[part], ...bills.map((bill) => amount(bill.parts[part]))])).join("\n")}
${row(["**all**", ...bills.map((bill) => `**${amount(bill.perMonth)}**`)])}
${row([`where a remote call takes ${CALL_MS.low} ms`, ...ranges.map(({ low }) => amount(low))])}
${row([`where a remote call takes ${CALL_MS.high} ms`, ...ranges.map(({ high }) => amount(high))])}
${row(["with AWS's free tiers", ...FLEETS.map((fleet) => amount(billOf({ ...fleet, freeTier: true }, measured).perMonth))])}
${row(["for each cluster", ...bills.map((bill) => amount(bill.perCluster))])}
${peers.map((name, i) => row([name, ...FLEETS.map((fleet) => amount(peersOf(fleet)[i]?.perMonth ?? 0))])).join("\n")}

## How it is computed

The lab plays hours of clusters of ${measured.quietHours.map(({ nodes }) => nodes).join(", ")} nodes with the real functions, and counts invocations,
remote calls, the table's request units by the bytes of each record, messages, lines of the log and metrics
(\`npm run -s verify -- bill\`, \`test/simulation/bill/\`). Ten nodes of a hundred are emptied and filled again, for what a
replaced node adds. Between the sizes the figures are on a line; clusters of more than ${largest} nodes continue it.

- Prices are AWS's list prices of us-east-1 and us-west-2 (\`cli/cost/bill.ts\`). The row of free tiers is for an account
  that uses Lambda, SQS and CloudWatch for nothing else.
- The lab has no time of Lambda: 60 ms for each invocation, 10 ms for each remote call as if they were made one after
  the other, 0.2 ms for each object that has changed since the function listed it last, and 0.015 ms for each other one
  of a list. Beside local servers functions take 90 to 170 ms on the mean.
- On a real control plane a warm sweep of 5,000 nodes and 50,000 pods takes \`provision\` 0.5 s of CPU, \`disruption\` 0.8 s
  and \`lifecycle\` 0.6 s ([speed](speed.md#5000-nodes-and-50000-pods)), about 3 GB-seconds a minute and $2 a month. A
  node of the lab has one pod, and its functions make all their calls one after the other.
- Lambda asks each empty queue with five pollers, each of which waits for 20 s. That is most of an idle stack's bill,
  and the clusters of a stack share it.
${podTimesLines()}
${historyLines()}
- On a real control plane, an hour of trouble (\`TROUBLE_MINUTES=60 npm run e2e -- trouble\`, 2026-11-26: 136 machines
  came and 135 went, by notices, crashes, deletions and consolidation) left 934 entries of 345 bytes: 6.9 for each
  machine. The command prints these figures. A decision of disruption is 541 bytes, a plan 430, the end of a machine
  371, pods that wait for a machine on its way 311; each takes two write units, those of waits one.
- Where \`alarmTopicArn\` is set (\`--alarms\`), alarms look at ${STACK.alarmMetrics} metrics, each of which costs $0.10.

## What is left out

${leftOut()}
`;
}

function idleLines(): string {
  const text = `An idle cluster with a public API server costs ${IDLE}: no account has measured yet how long remote calls take, on which Lambda's part rests. \`--call-ms MS\` says another time than ${CALL_MS.usual} ms, \`--free-tier\` takes off what AWS gives each account for nothing. \`--json\` prints \`{"perMonth", "perCluster", "parts", "range", "peers"}\` in USD. This page is made from the same figures.`;
  return wrap(text, 118).join("\n");
}

/** A GB of a log group of class Standard, USD. */
const LOG_GB = PRICES.logByte * 1e9;
/** Bytes of an audit record of one of our requests; assumed. */
const AUDIT_BYTES = 1_200;
/** A management event of a second trail, USD (aws.amazon.com/cloudtrail/pricing). */
const TRAIL_EVENT = 2e-5;
/** GB-seconds of a start: 0.6 s (docs/speed.md) on the mean memory; and how often Lambda starts each function anew. */
const START = { gbSeconds: 0.6 * 1.5, aDay: 12, functions: 5 };
/** What the sum has not, as list items. */
function leftOut(): string {
  const idle = measured.quietHours[0]?.usage;
  if (idle === undefined) throw new Error("no idle hour was measured");
  const [audited, managed] = [HOURS_A_MONTH * idle.apiRequests, HOURS_A_MONTH * idle.managementRequests];
  const starts = START.aDay * (HOURS_A_MONTH / 24) * START.functions * START.gbSeconds * PRICES.gbSecond;
  const inVpc = interfaceEndpoints(parseSettings({ clusters: [{ name: "any" }] }, "page"));
  const endpoints = inVpc.length * 2 * HOURS_A_MONTH * PRICES.endpointHour;
  const count = (n: number): string => (Math.round(n / 1_000) * 1_000).toLocaleString("en-US");
  return [
    `Of an idle cluster's requests to the API server, ${count(audited)} a month, EKS's audit log has records of about ${AUDIT_BYTES.toLocaleString("en-US")} bytes each (assumed), where it is on: ${amount((audited * AUDIT_BYTES * LOG_GB) / 1e9)}. The source \`audit\` needs that log, whose other records cost ${amount(LOG_GB)} a GB too.`,
    `Of its requests to EC2, SSM and IAM, ${count(managed)} a month, CloudTrail has management events. The first trail has them for nothing; a second one costs ${amount(managed * TRAIL_EVENT)}, and KMS where its files have a key.`,
    `Lambda bills the start of an environment. Where it starts each of ${START.functions} functions every two hours, that is ${amount(starts)}.`,
    "KMS: the table has a key that AWS owns, whose use is not billed. A key of your own (`kmsKeyArn`) costs $1, and $0.03 for 10,000 calls.",
    `A private API server needs interface endpoints, ${amount(endpoints)} for those of ${inVpc.join(", ")} in two zones (\`--private\`, or \`--endpoints N\`), or NAT ([deploying](deploy.md#private-api-servers)).`,
    "Point-in-time recovery, storage of the table and what flows between zones are cents.",
  ]
    .map(item)
    .join("\n");
}

/** What one document of a cluster costs at most, when pods come and go all the time. */
function podTimesLines(): string {
  const passes = (HOURS_A_MONTH * 3_600) / 5;
  const most = (nodes: number): string => amount(passes * Math.ceil((14 * nodes + 260) / 1_024) * PRICES.tableWrite);
  return item(
    `When pods came to and left nodes is a document of 14 bytes for a node, written at each pass of \`disruption\` that saw a change. With one each five seconds all month it costs ${most(100)} at 100 nodes, ${most(1_000)} at 1,000 and ${most(5_000)} at 5,000.`,
  );
}

const item = (text: string): string =>
  wrap(text, 118)
    .map((line, i) => (i === 0 ? `- ${line}` : `  ${line}`))
    .join("\n");

/** "about three dollars a month ($2.62 to $3.20)": README.md says the same. */
const WORDS = ["", "one dollar", "two dollars", "three dollars", "four dollars", "five dollars"];
const { low, high } = rangeOf(ONE, measured);
export const IDLE = `about ${WORDS[Math.round(billOf(ONE, measured).perMonth)]} a month (${amount(low)} to ${amount(high)})`;

/** What the history is of the bill, by what one node leaves in it. */
function historyLines(): string {
  const { entries, bytes, writes } = measured.historyOfNode;
  const each = `${entries.toFixed(1)} entries of ${Math.round(bytes / entries)} bytes, ${(writes / entries).toFixed(1)} write units each`;
  const text = `The [history](history.md) is part of it. A node that comes and goes leaves ${each}, because the record that an entry is about is then written in a transaction, which counts twice. For a thousand such nodes that is ${amount(1_000 * writes * PRICES.tableWrite)}.`;
  return item(text);
}
