import { BENCHES } from "./benches.ts";
import { CHECKS } from "./list.ts";
import type { Group, Program } from "./program.ts";

const cell = (text: string): string => text.replaceAll("|", "\\|");

function row({ name, answers, file, takes, minutes, needs }: Program): string {
  const word = `\`${name}${takes === undefined ? "" : ` ${takes}`}\``;
  return `| ${[word, answers, `\`${file.slice("test/".length)}\``, String(minutes), needs.join(", ") || "npm"].map(cell).join(" | ")} |`;
}

function section({ title, programs }: Group, command: string, note = ""): string {
  const head = [`| \`${command} --\` | answers | program | minutes | needs |`, "| --- | --- | --- | --: | --- |"];
  return [`## ${title}`, "", ...(note === "" ? [] : [note, ""]), ...head, ...programs.map(row), ""].join("\n");
}

/** test/README.md. */
export function readme(): string {
  return `# The verification of karpenter-serverless

Three commands: \`npm test\`; \`npm run verify -- WHAT\`, one kind of verification; \`npm run bench -- WHAT\`, a measurement.
\`--help\` prints the lists below, and \`npm run -s verify -- e2e drain\` hands on what follows the name. This page is made
from \`test/verify/checks/\` and \`test/verify/benches.ts\` (\`npx vitest run test/verify -u\`).

Minutes are of two cores, first builds left out; what a program needs beyond npm is in the last column. \`.ci/run\` uses
the installed Go, Java, Maven and Python, and installs everything else. Short forms are \`npm run sim\`,
\`npm run hostile\`, \`npm run conformance\`, \`npm run e2e\`, \`npm run versus\`, \`npm run week\` and \`npm run fleet\`. A
command that begins with \`node\` needs the Node of \`npm ci\`: \`export PATH=$PWD/node_modules/.bin:$PATH\`.

## Before each commit

| command | answers | minutes | needs |
| --- | --- | --- | --- |
| \`npx vitest run test/core/launch\` | the tests of one folder: tests mirror the sources | – | npm |
| \`npm test\` | do the rules hold? Tables, laws (fast-check), scenarios, the lab's stories, architecture and documents | 2 | npm |
| \`PROPERTY_SEED=7 npm test\` | do the laws hold for other values? Without the variable the seed is 1 | 2 | npm |
| \`npm run check\` | lint (\`npm run lint\`), types (\`npm run types\`), \`npm test\`, bundles (\`npm run build\`) | 3 | npm |
| \`npm run test:full\` | \`npm test\` with all slow parts: every bundle, kept cluster and kill point (\`test/support/effort.ts\`) | 5 | npm |
| \`npm --prefix docs ci && npm --prefix docs run build\` | do the documents make a site, and does each link lead to a page? | 1 | npm |
| \`.ci/run fast\` | a clean clone: \`npm ci\`, \`npm start\`, all of \`check\`, and synthesis with CDK and SAM | 5 | npm |
| \`.ci/run engines\` | contracts, simulation, planted faults, hostile objects, the site of the documents, linters, a release | 20 | Go, Java, Maven, Python |
| \`.ci/run cluster\` | a real control plane: checks on its API server, end to end, installs, the page in a browser | 20 | Go, Java, Maven, Python |
| \`.ci/run\` | all three: everything that must hold before a release | 40 | Go, Java, Maven, Python |

## What \`npm test\` has beside the mirrors of the sources

| folder | holds |
| --- | --- |
| \`scenarios/\` | plans of whole scenarios, kept as files |
| \`conformance/generated/\`, \`generated-clusters/\` | kept scenarios with Karpenter's answers: is each plan still at least as good? |
| \`conformance/peer/\` | answers to Karpenter's own specs ([why](conformance/peer/README.md)) |
| \`hostile/\` | what an API server admits may hurt only its owner ([cases](hostile/README.md)) |
| \`contracts/\` | the ports' contracts: the store on SQLite, metric sums, price caps, the fake EC2 |
| \`fake-aws/\`, \`iam/\`, \`harness/\` | the fake EC2 on the wire, the judge of the roles' policies, the harness of the stories |
| \`infra/grafana/alerts.test.yaml\` | each alert rule fires in its situation, and is quiet in the like (\`promtool test rules\`) |
| \`faults/\` | each planted fault still fits the code; \`npm run -s verify -- faults\` plants them |
| \`architecture/\` | imports point downwards without circles, the core is pure, references resolve, comments fit 120 columns |
| \`go/\`, \`e2e/cluster/\`, \`versus/karpenter/\` | Go modules with tests of their own: the oracle and kube-scheduler's filters, the control plane with fake kubelets, Karpenter |

${CHECKS.map((group) => section(group, "npm run verify")).join("\n")}
${BENCHES.map((group) => section(group, "npm run bench", "Benches print times and ratios; no test asserts a time. Without a name `plans` runs.")).join("\n")}
## Which test to write

| you change | write |
| --- | --- |
| a rule of the core | a row in the table of its test; a law when it holds for all inputs; a fault in \`faults/areas/\` |
| a write, or the order of writes | a story in \`lab/\`, and play \`npm run -s verify -- kills\` |
| an adapter | a line of its contract in \`contracts/\` or its test under \`adapters/\` |
| what the deployed stack may do | a story in \`e2e/stories/\`, a question in \`e2e/iam/\` |
| a plan's price | nothing that asserts a time; compare \`npm run -s conformance\` and \`npm run -s bench\` before and after |

\`support/\` has what tests share. \`support/objects.ts\` builds Kubernetes objects, and the \`builders.ts\` files are presets
of it. \`support/scheduling/\` has scenarios and an independent judge of plans. \`support/effort.ts\` says what \`npm test\`
leaves to \`test:full\`. \`support/patched-tree.ts\` makes a copy of the project in which rules are broken.
`;
}
