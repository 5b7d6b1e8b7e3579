import { existsSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { App, BootstraplessSynthesizer, CliCredentialsStackSynthesizer, type IStackSynthesizer } from "aws-cdk-lib";
import { Code } from "aws-cdk-lib/aws-lambda";
import type { OptionValues } from "#terminal/command-line.ts";
import { AccessStack } from "./access-stack.ts";
import { acknowledge } from "./acknowledged.ts";
import { type AddedCluster, AddedClusterStack } from "./added-cluster-stack.ts";
import { DIST } from "./dist.ts";
import { BadInput } from "./end-with.ts";
import type { FunctionName } from "./functions.ts";
import { accessStackName, addedStackName } from "./role-names.ts";
import { type DeploymentSettings, parseSettings, readSettings } from "./settings.ts";
import { AutoscalerStack } from "./stack.ts";
import { SYNTH_OPTIONS } from "./synth-options.ts";

export interface SynthOptions {
  readonly settings: DeploymentSettings;
  readonly outDir?: string;
  readonly code?: (name: FunctionName) => Code;
  readonly extraEnvironment?: Readonly<Record<string, string>>;
}

export interface Synthesis {
  readonly app: App;
  readonly stack: AutoscalerStack;
  readonly access: readonly AccessStack[];
}

/** The app with the functions' stack, and one stack per cluster of another account. */
export function makeStacks({ settings, outDir, code = bundled, extraEnvironment }: SynthOptions): Synthesis {
  const app = new App({
    ...(outDir !== undefined && { outdir: outDir }),
    analyticsReporting: false,
    // Without these, `sam deploy` does not find the code: the CDK's CLI would set them.
    postCliContext: { "aws:cdk:enable-asset-metadata": true, "aws:cdk:enable-path-metadata": true },
  });
  const stack = new AutoscalerStack(app, settings.stackName, {
    settings,
    code,
    ...(extraEnvironment && { extraEnvironment }),
    synthesizer: new CliCredentialsStackSynthesizer(
      settings.assetsBucket === undefined ? {} : { fileAssetsBucketName: settings.assetsBucket },
    ) as IStackSynthesizer,
  });
  acknowledge(
    stack,
    settings,
    settings.clusters.filter(({ account }) => account === undefined),
  );
  const access = settings.clusters
    .filter(({ account }) => account !== undefined)
    .map((cluster) => {
      // Without code to upload, that account needs no CDK bootstrap.
      const synthesizer = new BootstraplessSynthesizer() as IStackSynthesizer;
      const made = new AccessStack(app, accessStackName(settings.stackName, cluster.name), { settings, cluster, synthesizer });
      acknowledge(made, settings, [cluster]);
      return made;
    });
  return { app, stack, access };
}

/** The app with the small stack of a cluster that is added to a stack that runs. It has no code. */
export function makeAddedStack(added: AddedCluster, outDir?: string): { readonly app: App; readonly stack: AddedClusterStack } {
  const app = new App({ ...(outDir !== undefined && { outdir: outDir }), analyticsReporting: false });
  const name = addedStackName(added.settings.stackName, added.cluster.name);
  // Its template is uploaded by who deploys it.
  const stack = new AddedClusterStack(app, name, { added, synthesizer: new BootstraplessSynthesizer() as IStackSynthesizer });
  acknowledge(stack, added.settings, [added.cluster]);
  return { app, stack };
}

/** Writes the templates and the code. Returns a line for each template. */
export function synthesized({ app, access }: Synthesis, { stackName, clusters }: DeploymentSettings, outDir: string): string {
  app.synth();
  const file = (stack: string): string => join(outDir, `${stack}.template.json`);
  return [
    `${stackName} for ${clusters.map(({ name }) => name).join(", ")}: ${file(stackName)}`,
    ...access.map(({ cluster, stackName }) => `what account ${cluster.account} needs for ${cluster.name}: ${file(stackName)}`),
  ]
    .map((line) => `${line}\n`)
    .join("");
}

/** Throws one sentence in a checkout whose functions were not bundled. */
function bundled(name: FunctionName): Code {
  const folder = join(DIST, name);
  if (!existsSync(folder)) throw new BadInput(`${folder}: there is no bundle of ${name}; run npm run -s build first.`);
  return Code.fromAsset(folder);
}

/**
 * Settings from the command line, from the CDK's context (`cdk deploy -c clusters=a,b`), or from a file. Throws one
 * sentence about what is wrong.
 */
export function settingsFrom(args: readonly string[]): { readonly settings: DeploymentSettings; readonly outDir?: string } {
  const { values } = parseArgs({
    args: [...args],
    options: Object.fromEntries(
      Object.entries(SYNTH_OPTIONS).map(([name, { type }]) => [name, { type: type === "flag" ? "boolean" : "string" }] as const),
    ),
  });
  return settingsOf(values as SynthValues);
}

export type SynthValues = Partial<OptionValues<typeof SYNTH_OPTIONS>>;

/** The same of words that are read already. */
export function settingsOf(values: SynthValues): { readonly settings: DeploymentSettings; readonly outDir?: string } {
  const context = JSON.parse(process.env["CDK_CONTEXT_JSON"] ?? "{}") as Readonly<Record<string, unknown>>;
  const given = (name: "clusters" | "sources" | "config"): string | undefined =>
    values[name] ?? (typeof context[name] === "string" ? context[name] : undefined);
  const sources = given("sources")?.split(",");
  const named = given("clusters")
    ?.split(",")
    .map((name) => ({ name, ...(sources && { sources }) }));
  const file = named !== undefined && given("config") === undefined ? {} : readSettings(given("config"));
  const settings = parseSettings(
    {
      ...(file as object),
      ...(named && { clusters: named }),
      ...(values.architecture !== undefined && { architecture: values.architecture }),
      ...(values.stack !== undefined && { stackName: values.stack }),
      ...(values.ephemeral && { ephemeral: true }),
      ...(values.admission && { admission: true }),
      ...(values.scrape && { scrape: true }),
      ...(values.dashboard && { dashboard: true }),
      ...(values["create-node-roles"] && { createNodeRoles: true }),
      ...(values["assets-bucket"] !== undefined && { assetsBucket: values["assets-bucket"] }),
      ...(values["public-url"] !== undefined && { publicUrl: values["public-url"] }),
      ...(values.region !== undefined && { region: values.region }),
    },
    named === undefined ? (given("config") ?? "infra/clusters.json") : "The command line",
  );
  return { settings, ...(values.out !== undefined && { outDir: values.out }) };
}
