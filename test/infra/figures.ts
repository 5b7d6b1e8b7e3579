import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { Code } from "aws-cdk-lib/aws-lambda";
import { filled, MAX_INLINE_CHARACTERS, MAX_MANAGED_CHARACTERS } from "#infra/policy-size.ts";
import { hasFunctionUrls, parseSettings } from "#infra/settings.ts";
import { makeStacks } from "#infra/synthesis.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { samPrograms } from "./sam-programs.ts";

/**
 * Prints how large policies are at 1, 20 and 50 clusters beside IAM's limits, and in which regions cfn-lint accepts the
 * template with each source of wake-ups: `node test/infra/figures.ts [--regions a,b]`. Prints "N passed, N failed".
 */

type Resources = Readonly<Record<string, { readonly Type: string; readonly Properties?: Readonly<Record<string, unknown>> }>>;
interface Template {
  readonly Resources: Resources;
}

const SIZES = [1, 20, 50];

/** The longest names that EKS takes are rare; these are as long as people's. */
const clustersOf = (count: number): object[] =>
  Array.from({ length: count }, (_, i) => ({ name: `production-cluster-${String(i).padStart(2, "0")}` }));

const work = temporaryFolder("figures");
const code = join(work, "code");
mkdirSync(code);
writeFileSync(join(code, "index.mjs"), "export const handler = async () => ({});");

function synthesize(name: string, given: object): { readonly file: string; readonly template: Template } {
  const settings = parseSettings({ region: "us-east-1", admission: true, ...given }, name, () => {});
  const outDir = join(work, name);
  makeStacks({ settings, outDir, code: () => Code.fromAsset(code) }).app.synth();
  const file = join(outDir, `${settings.stackName}.template.json`);
  return { file, template: JSON.parse(readFileSync(file, "utf8")) as Template };
}

/** The characters of a policy as IAM counts them, with the longest values that CloudFormation's functions can have. */
const charactersOf = (document: unknown): number => JSON.stringify(filled(document)).replaceAll(/\s/g, "").length;

interface Sizes {
  readonly inline: number;
  readonly managed: number;
  readonly policies: number;
  readonly template: number;
}

function sizesOf({ file, template }: ReturnType<typeof synthesize>): Sizes {
  const all = Object.values(template.Resources);
  const inlineOf = ({ Properties = {} }: (typeof all)[number]): number =>
    ((Properties["Policies"] ?? []) as readonly { readonly PolicyDocument: unknown }[]).reduce(
      (sum, one) => sum + charactersOf(one.PolicyDocument),
      0,
    );
  const managed = all
    .filter(({ Type }) => Type === "AWS::IAM::ManagedPolicy")
    .map(({ Properties }) => charactersOf(Properties?.["PolicyDocument"]));
  const inline = all.filter(({ Type }) => Type === "AWS::IAM::Role").map(inlineOf);
  return { inline: Math.max(...inline), managed: Math.max(0, ...managed), policies: managed.length, template: readFileSync(file).length };
}

let passed = 0;
let failed = 0;
const expect = (holds: boolean, sentence: string): void => {
  if (holds) passed += 1;
  else {
    failed += 1;
    console.log(`FAILED  ${sentence}`);
  }
};

console.log(
  "| clusters | largest role, inline (10,240) | largest managed policy (6,144) | managed policies | template, bytes (1,000,000) |",
);
console.log("| --- | --- | --- | --- | --- |");
for (const count of SIZES) {
  const name = `${count} clusters`;
  try {
    const { inline, managed, policies, template } = sizesOf(synthesize(`clusters-${count}`, { clusters: clustersOf(count) }));
    console.log(`| ${count} | ${inline} | ${managed} | ${policies} | ${template} |`);
    expect(inline <= MAX_INLINE_CHARACTERS, `${name}: a role's inline policies have ${inline} characters`);
    expect(managed <= MAX_MANAGED_CHARACTERS, `${name}: a managed policy has ${managed} characters`);
    expect(template <= 1_000_000, `${name}: the template has ${template} bytes`);
  } catch (error) {
    console.log(`| ${count} | refused: ${error instanceof Error ? error.message : String(error)} |`);
    expect(count > 20, `${name} are refused`);
  }
}

const SOURCES: Readonly<Record<string, object>> = {
  functionUrl: { clusters: [{ name: "c1", sources: ["notify", "sweep"] }] },
  apiGateway: { clusters: [{ name: "c1", sources: ["notify", "sweep"] }], publicUrl: "apiGateway" },
  restApi: { clusters: [{ name: "c1", sources: ["notify", "sweep"] }], publicUrl: "restApi", callerCidrs: ["198.51.100.7/32"] },
  audit: { clusters: [{ name: "c1", sources: ["audit", "sweep"] }], admission: false },
  sweep: { clusters: [{ name: "c1", sources: ["sweep"] }], admission: false },
};

/**
 * The regions that cfn-lint has tables of: commercial, GovCloud, China; not those for secrets, of which it knows
 * little.
 */
function lintedRegions(lint: string): readonly string[] {
  const script = "from cfnlint.helpers import REGIONS; print(' '.join(sorted(r for r in REGIONS if '-iso' not in r)))";
  return execFileSync(join(lint, "..", "python3"), ["-c", script], { encoding: "utf8" })
    .trim()
    .split(" ");
}

const { values } = parseArgs({ options: { regions: { type: "string" } } });
const lint = join(samPrograms(), "cfn-lint");
const regions = values.regions?.split(",") ?? lintedRegions(lint);
const errors = new Map<string, readonly string[]>();
for (const [name, given] of Object.entries(SOURCES)) {
  const { file } = synthesize(`source-${name}`, given);
  const ended = spawnSync(lint, ["-i", "W", "-f", "parseable", "--regions", ...regions, "--", file], { encoding: "utf8" });
  // "file:line:col:line:col:E3006:Resource type 'X' does not exist in 'region'"
  const lines = ended.stdout.split("\n").filter((line) => /:E\d+:/.test(line));
  errors.set(name, lines);
  if (lines.length === 0 && ended.status !== 0) throw new Error(`cfn-lint: ${ended.stderr.slice(0, 500)}`);
}
console.log(
  `\n| region | ${Object.keys(SOURCES).join(" | ")} |\n| --- | ${Object.keys(SOURCES)
    .map(() => "---")
    .join(" | ")} |`,
);
for (const region of regions) {
  const verdicts = Object.keys(SOURCES).map((name) => {
    const about = (errors.get(name) ?? []).filter((line) => line.includes(`'${region}'`));
    const known = name === "functionUrl" && !hasFunctionUrls(region);
    expect(
      about.length > 0 === known,
      `${region}, ${name}: ${about[0]?.split(":").slice(5).join(":") ?? "cfn-lint accepts what the settings refuse"}`,
    );
    return about.length === 0 ? "ok" : known ? "refused" : "error";
  });
  console.log(`| ${region} | ${verdicts.join(" | ")} |`);
}
const elsewhere = [...errors.values()].flat().filter((line) => !regions.some((region) => line.includes(`'${region}'`)));
for (const line of elsewhere) expect(false, line);
console.log(`${readdirSync(work).length - 1} templates, ${regions.length} regions`);
rmSync(work, { recursive: true });
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;
