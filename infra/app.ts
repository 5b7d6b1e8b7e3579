import { join } from "node:path";
import { parseArgs } from "node:util";
import { App, BootstraplessSynthesizer, CliCredentialsStackSynthesizer, type IStackSynthesizer, Validations } from "aws-cdk-lib";
import { Code } from "aws-cdk-lib/aws-lambda";
import { AwsSolutionsChecks } from "cdk-nag";
import { AccessStack, accessStackName } from "./access-stack.ts";
import { acknowledge } from "./acknowledged.ts";
import { bundleCode, DIST, functionNames } from "./build.ts";
import { endWith } from "./end-with.ts";
import { FUNCTION_NAMES, type FunctionName } from "./functions.ts";
import { type DeploymentSettings, parseSettings, readSettings } from "./settings.ts";
import { AutoscalerStack } from "./stack.ts";

/**
 * Bundles the functions and synthesises the stack into cdk.out, offline and without the CDK's CLI: `node infra/app.ts
 * [--config FILE | --clusters a,b [--sources audit,notify,sweep]] [--architecture x86_64] [--stack NAME] [--out DIR]`.
 */

export interface SynthOptions {
  readonly settings: DeploymentSettings;
  readonly outDir?: string;
  readonly code?: (name: FunctionName) => Code;
  readonly extraEnvironment?: Readonly<Record<string, string>>;
}

/**
 * The app with the functions' stack, and one stack per cluster of another account; cdk-nag checks it when it is
 * synthesised.
 */
export function makeApp({ settings, outDir, code = bundled, extraEnvironment }: SynthOptions): {
  readonly app: App;
  readonly stack: AutoscalerStack;
  readonly access: readonly AccessStack[];
} {
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
  Validations.of(app).addPlugins(new AwsSolutionsChecks(app));
  return { app, stack, access };
}

function bundled(name: FunctionName): Code {
  return Code.fromAsset(join(DIST, name));
}

/**
 * Settings from the command line, from the CDK's context (`cdk deploy -c clusters=a,b`), or from a file. Throws one
 * sentence about what is wrong.
 */
export function settingsFrom(args: readonly string[]): { readonly settings: DeploymentSettings; readonly outDir?: string } {
  const { values } = parseArgs({
    args: [...args],
    options: {
      config: { type: "string" },
      clusters: { type: "string" },
      sources: { type: "string" },
      architecture: { type: "string" },
      stack: { type: "string" },
      out: { type: "string" },
      ephemeral: { type: "boolean" },
      admission: { type: "boolean" },
      "create-node-roles": { type: "boolean" },
      "assets-bucket": { type: "string" },
      "public-url": { type: "string" },
      region: { type: "string" },
    },
  });
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
      ...(values["create-node-roles"] && { createNodeRoles: true }),
      ...(values["assets-bucket"] !== undefined && { assetsBucket: values["assets-bucket"] }),
      ...(values["public-url"] !== undefined && { publicUrl: values["public-url"] }),
      ...(values.region !== undefined && { region: values.region }),
    },
    named === undefined ? (given("config") ?? "infra/clusters.json") : "The command line",
  );
  return { settings, ...(values.out !== undefined && { outDir: values.out }) };
}

/** The arguments of `settingsFrom`. */
export const USAGE = (script: string): string =>
  `npm run -s ${script} -- [--config FILE | --clusters a,b [--sources audit,notify,sweep]] [--architecture x86_64] [--stack NAME] [--ephemeral] [--admission] [--create-node-roles] [--assets-bucket NAME] [--public-url apiGateway] [--region REGION] [--out DIR]`;

async function main(): Promise<void> {
  const { settings, outDir = process.env["CDK_OUTDIR"] ?? "cdk.out" } = settingsFrom(process.argv.slice(2));
  const missing = FUNCTION_NAMES.filter((name) => !functionNames().includes(name));
  if (missing.length > 0) {
    throw new Error(`There is no functions/${missing[0]}/handler.ts, so the stack cannot be made.`);
  }
  for (const name of FUNCTION_NAMES) {
    await bundleCode(name, DIST);
  }
  const { app, access } = makeApp({ settings, outDir });
  app.synth();
  console.log(
    `${settings.stackName} for ${settings.clusters.map(({ name }) => name).join(", ")}: ${join(outDir, `${settings.stackName}.template.json`)}`,
  );
  for (const { cluster, stackName } of access)
    console.log(`what account ${cluster.account} needs for ${cluster.name}: ${join(outDir, `${stackName}.template.json`)}`);
}

if (import.meta.main) {
  try {
    await main();
  } catch (error) {
    endWith(error, USAGE("synth"));
  }
}
