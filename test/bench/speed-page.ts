import { readFileSync } from "node:fs";
import { join } from "node:path";

// docs/speed.md, of docs/data/speed.json: what benches have printed, as a person has entered it.

const ROOT = join(import.meta.dirname, "../..");
export const PAGE = join(ROOT, "docs/speed.md");

interface Measured {
  /** The command line, and on what it ran. */
  readonly measured: string;
  readonly columns: readonly string[];
  readonly rows: readonly (readonly string[])[];
  readonly notes: readonly string[];
}

type Section = "plans" | "buckets" | "largeCluster";

/** Rows that the page shows; each is in the data. */
const SHOWN: Readonly<Record<Section, (row: readonly string[]) => boolean>> = {
  plans: ([, number]) => ["100", "1,000", "10,000"].includes(number ?? ""),
  buckets: () => true,
  largeCluster: ([, pass]) => pass === "cold" || pass === "warm, nothing has changed" || /^warm, 100/.test(pass ?? ""),
};

function table({ columns, rows }: Measured, isShown: (row: readonly string[]) => boolean): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(" | ")} |`;
  return [line(columns), `| --- |${" --: |".repeat(columns.length - 1)}`, ...rows.filter(isShown).map(line)].join("\n");
}

export function speedPage(text = readFileSync(join(ROOT, "docs/data/speed.json"), "utf8")): string {
  const data = JSON.parse(text) as Readonly<Record<Section, Measured>>;
  const shown = (section: Section): string => table(data[section], SHOWN[section]);
  return `# How fast a plan is found

Figures that were measured once; \`docs/data/speed.json\` has all of them with their commands and notes, and
\`node test/bench/write-speed.ts\` makes this page of it. Times depend on the machine, so no test asserts one.

## Plans

\`npm run -s bench -- --oracle\` measures both sides one right after the other: our search, then Karpenter v1.14.1 itself
(\`test/go/cmd/oracle\`), on the same pods and the same AWS catalogue (1,300 instance types, two NodePools, two
DaemonSets). CPU milliseconds of all threads. *Cold* is the first plan of a process, *warm* the best of all. × is
Karpenter's time over ours. Node counts differ because plans are chosen by price.

${shown("plans")}

"All alike" are copies of one pod, "deployments" are Deployments of uneven size with spreads, affinity and selectors,
and of the pods that are "all different" each excludes two instance types of its own. Such pods share no work; steps
bound them ([architecture](architecture.md#plans)). 50,000 pods take 0.5 to 10 s cold; Karpenter needs 32 to 51 s, and
was ended after 282 s for those of deployments.

The goal is ten times Karpenter's speed cold at 100 and 1,000 pods, and twenty times warm. Copies of one pod reach it
warm, the others do not: no phase of a cold plan is more than a quarter of it, half of each is the engine's compiler and
garbage collector, and most of a warm one makes plans cheaper.

**Price.** Plans are 0.2 % above the exact optimum of small cases in the mean, 92 % of them are optimal
(\`npm run -s bench -- optimum\`). Of larger plans the search's part of the distance from the bound is at most 10.5 %;
at 100 pods a plan is known that is 3.3 % cheaper.

**Bursts** are not cut into parts: 50,000 pods planned in five parts would start the first machines 1.9 s of CPU
earlier, and cost 20 % more.

## Thousands of nodes at once

A static NodePool grows by 2,000 nodes in the lab, under the buckets of requests that EC2 documents (CreateFleet: 50 at
once and 5 a second), in seconds since the nodes were asked for:

${shown("buckets")}

[0025](decisions/0025-alike-nodeclaims-are-launched-together.md) and
[0026](decisions/0026-one-pace-for-an-account.md) say why. 5,000 nodes take 102 calls in 16.5 s and are initialized
after 100 s. On a real control plane with two cores (\`npm run -s versus -- hosts-2000\`) the functions asked for 2,000
machines in 42 calls within 212 s and all ran after ten minutes; Karpenter launched 777 and had 571 left.

## 5,000 nodes and 50,000 pods

\`node test/bench/large-cluster-on-server.ts\` fills a real API server and runs the functions over it. Two cores were
shared with other programs, so CPU seconds count. *Seats* is what the server's flow control counts the requests as; it
refused none.

${shown("largeCluster")}

A list that the server has forgotten changes of is caught up with by names and versions
([architecture](architecture.md#reading-a-large-cluster)). The first pass ever of \`disruption\` writes a condition of
each NodeClaim: 15,125 requests, 25.4 s of CPU, once. With 1,000 nodes and 10,000 pods a cold pass takes 0.6 to 2.7 s of
CPU and a warm one 0.1 to 0.2 s.

In the table a node at rest costs 55.2 read units and 10.6 write units an hour, a launch 56.2 and 40.9
(\`node test/simulation/bill/table.ts\`).
`;
}
