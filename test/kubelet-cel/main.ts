import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { BUNDLED_REGIONS, bundledCatalogue } from "#adapters/catalogue/bundled.ts";
import { kubeletProblems } from "#core/node-class/kubelet.ts";
import { eniLimitedPods } from "#core/offerings/capacity.ts";
import { drawnExpressions } from "./draw.ts";
import { EXPRESSIONS, OUTSIDE } from "./expressions.ts";
import { askKarpenter, type TypeRow } from "./karpenter.ts";
import { kubeletSamples } from "./kubelets.ts";
import { agree, ourAnswer } from "./ours.ts";

// Compares expressions and settings of spec.kubelet with Karpenter's own evaluator and checks, over all instance types
// of the bundled catalogues.

const { values } = parseArgs({
  options: {
    drawn: { type: "string", default: "400" },
    seed: { type: "string", default: "1" },
    golden: { type: "boolean", default: false },
  },
});

const types = new Map<string, TypeRow>(
  BUNDLED_REGIONS.flatMap((region) =>
    bundledCatalogue(region).types.map((type) => {
      const row: TypeRow = [type.name, type.cpu, type.memoryMib, type.enis, type.ipv4PerEni, eniLimitedPods(type, 0)];
      return [row.join(" "), row] as const;
    }),
  ),
);
const rows = [...types.values()];
const expressions = [...new Set([...EXPRESSIONS, ...drawnExpressions(Number(values.drawn), Number(values.seed))])];
const kubelets = kubeletSamples();
const theirs = askKarpenter({ types: rows, expressions: [...expressions, ...OUTSIDE], kubelets: kubelets.map(({ kubelet }) => kubelet) });

if (values.golden) {
  // A small, a usual and a large type, with all variables different.
  const kept = rows.filter(([name]) => ["t3.nano", "m5.large", "p4d.24xlarge"].includes(name));
  const answers = EXPRESSIONS.map((expression, i) => {
    const { refused, results = [] } = theirs.expressions[i] ?? {};
    return { expression, ...(refused === undefined ? { results: kept.map((row) => results[rows.indexOf(row)]) } : { refused }) };
  });
  const lines = answers.map((answer) => JSON.stringify(answer)).join(",\n");
  writeFileSync(join(import.meta.dirname, "kubelet.golden.json"), `{"types":${JSON.stringify(kept)},"answers":[\n${lines}\n]}\n`);
}

let differing = 0;
let mixed = 0;
let compared = 0;
for (const [i, expression] of expressions.entries()) {
  const given = theirs.expressions[i] ?? {};
  const own = ourAnswer(expression, rows);
  compared += given.results?.length ?? 1;
  if (agree(given, own)) continue;
  if (own.refused?.includes("of one type, not ")) {
    mixed += 1;
    continue;
  }
  differing += 1;
  const at = given.results?.findIndex((result, j) => !agree({ results: [result] }, { results: own.results?.slice(j, j + 1) ?? [] })) ?? 0;
  const shown = (answer: typeof given): string => answer.refused ?? JSON.stringify(answer.results?.[at]);
  process.stdout.write(
    `differs: ${JSON.stringify(expression)} for ${rows[at]?.[0]}\n  Karpenter: ${shown(given)}\n  here: ${shown(own)}\n`,
  );
}
const outside = OUTSIDE.filter((expression, i) => !agree(theirs.expressions[expressions.length + i] ?? {}, ourAnswer(expression, rows)));
const settings = kubelets.filter(({ kubelet }, i) => (theirs.kubelets[i]?.length ?? 0) > 0 !== kubeletProblems(kubelet).length > 0);
for (const { name, kubelet } of settings) {
  const i = kubelets.findIndex((sample) => sample.name === name);
  process.stdout.write(`differs: ${name}: ${JSON.stringify(kubelet)}\n  Karpenter: ${theirs.kubelets[i]?.join("; ") || "takes it"}\n`);
  process.stdout.write(`  here: ${kubeletProblems(kubelet).join("; ") || "takes it"}\n`);
}
process.stdout.write(
  `${expressions.length} expressions for ${rows.length} instance types: ${compared} compared, ${differing} expressions differ\n` +
    `${mixed} expressions with lists or maps of several types, which are refused here\n` +
    `${OUTSIDE.length} expressions with times, bytes, types or dynamic values, which are refused here: ${outside.length} differ\n` +
    `${kubelets.length} kubelet settings compared, ${settings.length} differ\n`,
);
process.exitCode = differing + settings.length > 0 ? 1 : 0;
