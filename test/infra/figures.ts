import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import type { App } from "aws-cdk-lib";
import { Code } from "aws-cdk-lib/aws-lambda";
import { makeApp } from "#infra/app.ts";
import { samTemplate } from "#infra/sam.ts";
import { type DeploymentSettings, hasFunctionUrls, parseSettings } from "#infra/settings.ts";
import { makeAddedStack } from "#infra/synthesis.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { samPrograms } from "./sam-programs.ts";
import { HEADINGS, sizesOf } from "./template-sizes.ts";

/**
 * Prints how large each variant of the templates is beside AWS's limits, and in which regions cfn-lint accepts it:
 * `node test/infra/figures.ts [--regions a,b]`. A warning of cfn-lint counts as a fault. Prints "N passed, N failed".
 */

const NUMBERS = [1, 20, 50];

/** The longest names that EKS takes are rare; these are as long as people's. */
const clustersOf = (count: number): object[] =>
  Array.from({ length: count }, (_, i) => ({ name: `production-cluster-${String(i).padStart(2, "0")}` }));

const work = temporaryFolder("figures");
const code = join(work, "code");
mkdirSync(code);
writeFileSync(join(code, "index.mjs"), "export const handler = async () => ({});");

interface Made {
  readonly name: string;
  readonly file: string;
}

const settingsFor = (name: string, given: object): DeploymentSettings =>
  parseSettings({ region: "us-east-1", admission: true, ...given }, name, () => {});
const folderOf = (name: string): string => join(work, name.replaceAll(/\W+/g, "-"));

function written(name: string, app: App, stack: string): Made {
  app.synth();
  return { name, file: join(folderOf(name), `${stack}.template.json`) };
}

function functions(name: string, given: object): Made {
  const settings = settingsFor(name, given);
  return written(name, makeApp({ settings, outDir: folderOf(name), code: () => Code.fromAsset(code) }).app, settings.stackName);
}

/** What a cluster of another account needs there. */
function otherAccount(name: string, given: object): Made {
  const settings = settingsFor(name, given);
  const { app, access } = makeApp({ settings, outDir: folderOf(name), code: () => Code.fromAsset(code) });
  return written(name, app, access[0]?.stackName ?? "");
}

function addedCluster(name: string, given: object): Made {
  const settings = settingsFor(name, given);
  const [cluster] = settings.clusters;
  if (cluster === undefined) throw new Error(`${name}: no cluster`);
  const role = (of: string): string => `arn:aws:iam::111122223333:role/karpenter-serverless-${of}`;
  const functionRoles = Object.fromEntries(["provision", "lifecycle", "disruption", "catalog", "interruption"].map((of) => [of, role(of)]));
  const auditArn = "arn:aws:lambda:us-east-1:111122223333:function:karpenter-serverless-audit";
  const { app, stack } = makeAddedStack({ settings, cluster, createNodeRoles: true, functionRoles, auditArn }, folderOf(name));
  return written(name, app, stack.stackName);
}

/** The SAM template, whose code is a folder for each function. */
function sam(name: string, given: object): Made {
  const folder = folderOf(name);
  const file = join(folder, "template.json");
  const template = samTemplate(settingsFor(name, given)) as { readonly Resources: object };
  mkdirSync(folder);
  writeFileSync(file, JSON.stringify(template, null, 1));
  return { name, file };
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
const print = (cells: readonly string[]): void => console.log(`| ${cells.join(" | ")} |`);
const rule = (columns: number): void => print(Array.from({ length: columns }, () => "---"));

const NOTIFIED = { name: "c1", sources: ["notify", "sweep"] };
const WINDOWS = { createNodeRoles: true, createWindowsNodeRoles: true };
const HOUSE = {
  ...WINDOWS,
  vpc: { subnetIds: ["subnet-0123456789abcdef0", "subnet-0123456789abcdef1"], securityGroupIds: ["sg-0123456789abcdef0"] },
  kmsKeyArn: "arn:aws:kms:us-east-1:111122223333:key/11111111-2222-3333-4444-555555555555",
  permissionsBoundary: "arn:aws:iam::111122223333:policy/platform/boundary",
  rolePath: "/platform/",
  tags: { "cost-centre": "42" },
};
const ELSEWHERE = { clusters: [NOTIFIED, { ...NOTIFIED, name: "c2", account: "222233334444", externalId: "figures" }] };
const EVERYTHING = {
  ...WINDOWS,
  clusters: [{ name: "c1", sources: ["audit", "notify", "sweep"] }],
  scrape: true,
  dashboard: true,
  alarmTopicArn: "arn:aws:sns:us-east-1:111122223333:on-call",
  eventBus: "default",
  notifyConcurrency: 10,
  settings: { ENABLE_ZONAL_SHIFT: "true" },
};

/** Variants that a region may lack something for. */
const variants = (): readonly Made[] => [
  functions("functionUrl", { clusters: [NOTIFIED] }),
  functions("apiGateway", { clusters: [NOTIFIED], publicUrl: "apiGateway" }),
  functions("restApi", { clusters: [NOTIFIED], publicUrl: "restApi", callerCidrs: ["198.51.100.7/32"] }),
  functions("audit", { clusters: [{ name: "c1", sources: ["audit", "sweep"] }], admission: false }),
  functions("sweep", { clusters: [{ name: "c1", sources: ["sweep"] }], admission: false }),
  functions("everything", { ...EVERYTHING, publicUrl: "apiGateway" }),
  functions("house rules", { ...HOUSE, ...ELSEWHERE, publicUrl: "restApi", callerCidrs: ["198.51.100.7/32"] }),
  otherAccount("other account", { ...HOUSE, ...ELSEWHERE, publicUrl: "apiGateway" }),
  addedCluster("added cluster", EVERYTHING),
  sam("SAM", { ...EVERYTHING, publicUrl: "apiGateway" }),
];
/** Templates that people deploy by `aws cloudformation deploy`, without a bucket. */
const SENT = new Set(["other account", "added cluster"]);
/** Variants with what not every region has. */
const WITH_FUNCTION_URLS = new Set(["functionUrl"]);

function measure(all: readonly Made[]): void {
  print(HEADINGS);
  rule(HEADINGS.length);
  for (const { name, file } of all) {
    const { row, faults } = sizesOf(name, readFileSync(file, "utf8"), SENT.has(name));
    print(row);
    expect(faults.length === 0, faults.join("; "));
  }
}

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

/** What cfn-lint finds: "file:line:col:line:col:E3006:Resource type 'X' does not exist in 'region'". */
function findings(lint: string, file: string, regions: readonly string[]): readonly string[] {
  const { stdout, stderr, status } = spawnSync(lint, ["-f", "parseable", "--regions", ...regions, "--", file], { encoding: "utf8" });
  const lines = stdout.split("\n").filter((line) => /:[EW]\d+:/.test(line));
  if (lines.length === 0 && status !== 0) throw new Error(`cfn-lint: ${stderr.slice(0, 500)}`);
  return lines.map((line) => line.split(":").slice(5).join(":"));
}

function judge(all: readonly Made[]): void {
  const { values } = parseArgs({ options: { regions: { type: "string" } } });
  const lint = join(samPrograms(), "cfn-lint");
  const regions = values.regions?.split(",") ?? lintedRegions(lint);
  const found = new Map(all.map(({ name, file }) => [name, findings(lint, file, regions)]));
  console.log("");
  print(["region", ...found.keys()]);
  rule(found.size + 1);
  for (const region of regions) {
    const verdicts = [...found].map(([name, lines]) => {
      const about = lines.filter((line) => line.includes(`'${region}'`));
      const isKnown = WITH_FUNCTION_URLS.has(name) && !hasFunctionUrls(region);
      expect(about.length > 0 === isKnown, `${region}, ${name}: ${about[0] ?? "cfn-lint accepts what the settings refuse"}`);
      return about.length === 0 ? "ok" : isKnown ? "refused" : "error";
    });
    print([region, ...verdicts]);
  }
  for (const [name, lines] of found)
    for (const line of new Set(lines.filter((line) => !regions.some((region) => line.includes(`'${region}'`)))))
      expect(false, `${name}: ${line}`);
  console.log(`${all.length} templates, ${regions.length} regions`);
}

const made = variants();
measure([...NUMBERS.map((count) => functions(`${count} clusters`, { clusters: clustersOf(count) })), ...made]);
judge(made);
rmSync(work, { recursive: true });
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;
