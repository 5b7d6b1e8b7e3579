import { COMMANDS } from "#cli/commands.ts";
import { wrap } from "#core/lib/wrap.ts";
import { INSTALLED } from "#settings/program.ts";
import { argumentsOf, type Command } from "#terminal/command.ts";
import { synopsis } from "#terminal/command-line.ts";

const paragraph = (text: string): readonly string[] => wrap(text, 120);
const cell = (text: string): string => text.replaceAll("|", "\\|");

/** Keys of the JSON of commands that print it. */
const JSON_OF: Readonly<Record<string, string>> = {
  solve: "without `--explain`: the plan, as [the scenario format](scenario-format.md) says; for several files a line each",
  consolidate: "without `--explain`: the commands, as [the scenario format](scenario-format.md) says; for several files a line each",
  "what-if": "`--format json`: the bill today, when all is left alone and after the change, with the steps on the way",
  observe: "`--replay FILE --format json`: `header`, `from`, `to`, `observed` and `replayed` figures, `worse`, `assumed`",
  view: "the page's data, as [the data of a view](view-data.md) says",
  why: "`--json`: [the entries](history.md#json) of each NodeClaim, and of a pod's waits",
  history: "`--json`: `cluster`, `since`, `until` and [`entries`](history.md#json)",
  report: "`--format json`: [rows, sums and counts](history.md#json)",
  lab: "`--json`: the functions' log, a line each; `--report`: [the state at the end](lab-report.md)",
  status: "`--json`: `cluster`, `region`, `stack`, `healthy`, `checks` (each `name`, `level`: `ok`, `note` or `fault`, `text`), `observed`",
  doctor: "`--json`: `cluster`, `region`, `stack`, `healthy`, `checks` (each `name`, `level`: `ok`, `note` or `fault`, `text`)",
  cost: "`--json`: `perMonth`, `perCluster` and `parts` in USD, `peers`",
};

/** The files of the schemas; the lab has two, and the data of a view has a page. */
function schemaOf(name: string): string {
  if (name === "view") return "";
  if (name === "lab") return " Their schemas: [lab-log.json](schemas/lab-log.json), [lab-report.json](schemas/lab-report.json).";
  return ` Its schema: [${name}.json](schemas/${name}.json).`;
}

async function section(command: Command): Promise<string> {
  const given = await argumentsOf(command);
  const words = given.positionals === undefined ? [] : [[given.positionals.name, given.positionals.description] as const];
  const options = Object.entries(given.options).map(
    ([name, option]) => [`--${name}${option.type === "flag" ? "" : ` ${option.value}`}`, option.description] as const,
  );
  const rows = [...words, ...options].map(([word, text]) => `| \`${cell(word)}\` | ${cell(text)} |`);
  const table = rows.length === 0 ? [] : ["| argument | |", "| --- | --- |", ...rows, ""];
  const json = JSON_OF[command.name];
  return [
    `## ${command.name}`,
    "",
    ...paragraph(
      `\`${`${command.name} ${synopsis(given)}`.trim()}\`: ${command.summary.charAt(0).toLowerCase()}${command.summary.slice(1)}.`,
    ),
    "",
    ...table,
    ...(json === undefined ? [] : [...paragraph(`JSON: ${json}.${schemaOf(command.name)}`), ""]),
  ].join("\n");
}

/** docs/commands.md. */
export async function commandsPage(): Promise<string> {
  const sections = await Promise.all(COMMANDS.map(section));
  return `# Commands

Made from the commands' own tables of arguments, which \`--help\` prints, too. In a checkout \`npm run -s cli --\` stands
for \`${INSTALLED}\`, which begins each of these commands; a release that is installed with \`npm i -g\` has
\`kubectl ${INSTALLED}\` besides.

- Commands that print JSON have a JSON Schema (2020-12) each, in \`docs/schemas\`, which a release has, too. A later
  version may add fields; none is taken away or changed within a major version.
- The exit code is 0; 1 where the answer is no (\`status\` finds a fault) or needs a person's work (\`convert\`); 2 where
  the input or the command line is wrong, with one sentence on standard error.
- Lines are as wide as the terminal, from 60 to 140 columns (\`lab\`: 120). In a pipe explanations have 100, and what has
  one line for each check, step, row or error keeps it. Only \`lab\` has colours, and only on a terminal without
  \`NO_COLOR\`.
- A command that plans, reads or waits for two seconds without a line of its own says on standard error that it works,
  also in a pipe.
- \`${INSTALLED} completion bash|zsh|fish\` prints what a shell needs to complete the words:
  \`source <(${INSTALLED} completion bash)\`, \`${INSTALLED} completion fish | source\`.

${sections.join("\n")}`
    .trimEnd()
    .concat("\n");
}
