import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { consolidateCommand } from "#cli/consolidate/command.ts";
import { convertCommand } from "#cli/convert/command.ts";
import { runCommandLine } from "#cli/run.ts";
import { solveCommand } from "#cli/solve/command.ts";
import { whatIfCommand } from "#cli/what-if/command.ts";
import type { Json } from "#core/lib/json.ts";
import { type Random, seeded } from "#lab/world/random.ts";
import { loadManifests, ManifestError } from "#manifests/read.ts";
import { mutatedJson, mutatedText, ODD_TEXTS } from "../hostile/mutate.ts";
import { ODD_INPUTS } from "../support/effort.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const COMMANDS = [solveCommand, consolidateCommand, whatIfCommand, convertCommand];

const folder = temporaryFolder("bad-input");

const samples = (dir: string, ending: string) =>
  readdirSync(join(import.meta.dirname, dir))
    .filter((name) => name.endsWith(ending))
    .map((name) => readFileSync(join(import.meta.dirname, dir, name), "utf8")) as [string, ...string[]];

const SCENARIOS = samples("../scenarios/scheduling", ".in.json");
const MANIFESTS = samples("convert/cases", ".in.yaml");

/** Words of a JavaScript engine: they say nothing to a user. */
const ENGINE = /Cannot read|is not a function|is not iterable|undefined|Maximum call stack|Invalid array|at .*\.ts:\d+|Reduce of/;

function written(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

async function run(args: readonly string[]): Promise<{ code: number; out: string; err: string }> {
  let [out, err] = ["", ""];
  const stdout = { write: (text: string) => (out += text) };
  const stderr = { write: (text: string) => (err += text) };
  return { code: await runCommandLine(COMMANDS, args, { stdout, stderr }), out, err };
}

/** One sentence and exit code 2, or an answer. */
async function check(args: readonly string[], what: string): Promise<void> {
  const { code, err } = await run(args);
  expect([0, 1, 2], what).toContain(code);
  // The checks do not know every field of the API: such a failure names its command and is one sentence, too.
  if (code !== 2 || err.includes("either a field has a shape that the Kubernetes API refuses")) return;
  expect({ what, lines: err.trimEnd().split("\n").length, engine: ENGINE.exec(err)?.[0], err: err.slice(0, 300) }).toMatchObject({
    lines: 1,
    engine: undefined,
  });
}

it.for(["solve", "consolidate", "what-if"])(
  "%s answers a scenario of any shape, or says in one sentence what is wrong",
  async (command) => {
    const random = seeded(16).fork(command);
    for (let round = 0; round < ODD_INPUTS; round++) {
      const text = random.pick(SCENARIOS);
      const isText = random.next() < 0.2;
      const bad = isText ? mutatedText(text, random) : JSON.stringify(mutatedJson(JSON.parse(text) as Json, random));
      const more = command === "what-if" ? ["--quiet", "--days", "1", "--decisions", "1"] : [];
      await check([command, written("scenario.json", bad), ...more], `round ${round}`);
    }
  },
);

it("convert answers manifests of any shape, or says in one sentence what is wrong", async () => {
  const random = seeded(17);
  for (let round = 0; round < ODD_INPUTS; round++) {
    await check(["convert", written("manifest.yaml", mutatedText(random.pick(MANIFESTS), random))], `round ${round}`);
  }
});

it("manifests of any shape are read, or refused with sentences", () => {
  const random = seeded(18);
  for (let round = 0; round < ODD_INPUTS; round++) {
    const path = written("manifest.yaml", mutatedText(random.pick(MANIFESTS), random));
    try {
      loadManifests([path]);
    } catch (error) {
      expect(error, `round ${round}`).toBeInstanceOf(ManifestError);
      expect(ENGINE.exec((error as Error).message), `round ${round}`).toBeNull();
    }
  }
});

it.for(["values:", "values: null"])("a field without a value counts as absent, as for the API server: %s", (values) => {
  const requirement = `{key: karpenter.sh/capacity-type, operator: In, values: [spot]}\n      - key: tenant\n        operator: Exists\n        ${values}`;
  const spec = `{group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}\n      requirements:\n      - ${requirement}`;
  const text = `apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: x}\nspec:\n  template:\n    spec:\n      nodeClassRef: ${spec}\n`;
  const [pool] = loadManifests([written("null.yaml", text)]);
  expect(JSON.stringify(pool?.object)).not.toContain("null");
});

it("options of any kind are answered, or refused in one sentence", async () => {
  const random = seeded(19);
  const scenario = written("good.json", SCENARIOS[0]);
  const OPTIONS = ["set", "budget", "family", "not-family", "capacity-type", "pool", "delete", "days", "decisions", "format", "table"];
  for (let round = 0; round < ODD_INPUTS; round++) {
    const option = random.pick(OPTIONS as [string, ...string[]]);
    const value = random.pick<(random: Random) => string>([
      () => random.pick(ODD_TEXTS),
      () => `default=${random.pick(["200%", "-1", "1e3", "", "%", "101%", "٣%"])}`,
      () =>
        `nodepool/default.spec.${random.pick(["weight", "limits.cpu", "template", "disruption.budgets", "__proto__.x"])}=${random.pick(ODD_TEXTS)}`,
      () => mutatedText("nodepool/default.spec.disruption.consolidateAfter=30s", random),
    ])(random);
    await check(["what-if", scenario, "--quiet", "--decisions", "1", `--${option}`, value], `--${option} ${value.slice(0, 80)}`);
  }
});

it.for([
  {
    what: "aliases that make copies of copies",
    text: ["a0: &a0 [x, x, x, x]", ...Array.from({ length: 12 }, (_, i) => `a${i + 1}: &a${i + 1} [${Array(8).fill(`*a${i}`)}]`)].join(
      "\n",
    ),
    says: "its aliases (*name) make too many copies",
  },
  { what: "an alias that contains itself", text: "x: &a\n  b: *a", says: "an alias (*name) refers to itself" },
  { what: "an alias that is merged into itself", text: "x: &a\n  b: 1\n  <<: *a", says: "an alias (*name) refers to itself" },
  {
    what: "lists in lists without end",
    text: `x: ${"[".repeat(100_000)}`,
    says: "it opens more than 2000 brackets that it does not close",
  },
  { what: "openings of templates without end", text: `x: ${"${".repeat(100_000)}`, says: "it opens more than 2000 brackets" },
])("$what are refused in one sentence, by convert and by the lab", async ({ text, says }) => {
  const path = written("bomb.yaml", `apiVersion: karpenter.sh/v1beta1\nkind: NodePool\nmetadata: {name: x}\n${text}\n`);
  const { code, err } = await run(["convert", path]);
  expect({ code, err }).toEqual({ code: 2, err: expect.stringContaining(says) });
  expect(err.trimEnd()).not.toContain("\n");
  expect(() => loadManifests([path])).toThrow(says);
  expect(() => loadManifests([path])).toThrow(ManifestError);
});

it("placeholders that are never closed take no time", async () => {
  const openings = ["${", "$(a", "{{ ", "<<<a", "<<a "].map((opening) => opening.repeat(900));
  const text = `apiVersion: karpenter.sh/v1beta1\nkind: NodePool\nmetadata: {name: x}\nspec: |\n${openings.map((line) => `  ${line}`).join("\n")}\n`;
  await check(["convert", written("openings.yaml", text)], "openings");
});
