import { stripVTControlCharacters } from "node:util";
import { type ArgsDef, defineCommand, runCommand, runMain } from "citty";
import { consolidate } from "./consolidate/consolidate.ts";
import { explainConsolidation } from "./consolidate/explain.ts";
import { InputError } from "./scenario/scenario.ts";
import { solveCommand } from "./solve/solve.ts";
import { whatIfArgs } from "./what-if/options.ts";

const file = { type: "positional", description: 'a scenario in JSON, plain or gzipped; "-" is standard input' } as const;
const explain = {
  type: "boolean",
  description: "for people: what is done, at what price, and why the rest is not",
  default: false,
} as const;

/** Words of the command line that a command does not know; citty would pass over them. */
function refuseUnknown(args: Readonly<Record<string, unknown>> & { readonly _: readonly string[] }, known: ArgsDef): void {
  const option = Object.keys(args).find((name) => name !== "_" && !Object.keys(known).some((k) => camel(k) === camel(name)));
  if (option !== undefined) throw new InputError(`there is no option --${option}; ${HELP}`);
  if (args._.length > 1) throw new InputError(`one file is enough, but there is also ${args._[1]}; ${HELP}`);
}

const camel = (name: string): string => name.replaceAll(/-(\w)/g, (_, letter: string) => letter.toUpperCase());

const HELP = "see npm run -s cli -- --help";

/** The checks of scenarios do not know every field of the API: what one of another shape leads to says little, but never as a stack trace. */
function sentence(error: unknown): string {
  if (error instanceof InputError) return error.message;
  const what = error instanceof Error ? error.message : String(error);
  return `the scenario cannot be planned: ${what}; likely a field has another shape than the API gives it, else it is a fault worth reporting with the file`;
}

/** Runs a command whose input may be bad: one sentence and exit code 2 then, never a stack trace. */
async function saying(body: () => string | Promise<string>): Promise<void> {
  try {
    process.stdout.write(await body());
  } catch (error) {
    process.stderr.write(`${sentence(error)}\n`);
    process.exitCode = 2;
  }
}

const solveArgs = { file: { ...file, required: true }, explain } as const;

const solve = defineCommand({
  meta: { name: "solve", description: "Plans nodes for the pending pods of a scenario" },
  args: solveArgs,
  run: ({ args }) =>
    saying(() => {
      refuseUnknown(args, solveArgs);
      return solveCommand(args.file, { explain: args.explain });
    }),
});

const consolidateArgs = {
  ...solveArgs,
  "spot-to-spot": { type: "boolean", description: "replace spot nodes by cheaper spot nodes", default: false },
} as const;

const consolidateCommand = defineCommand({
  meta: { name: "consolidate", description: "Plans one pass of disruption over a scenario" },
  args: consolidateArgs,
  run: ({ args }) =>
    saying(() => {
      refuseUnknown(args, consolidateArgs);
      const plan = consolidate(args.file, { explain: args.explain, spotToSpotConsolidation: args["spot-to-spot"] });
      return args.explain ? explainConsolidation(plan) : `${JSON.stringify(plan, null, 2)}\n`;
    }),
});

const rebuildArgs = {
  cluster: { type: "string", description: "name of the EKS cluster", required: true },
  table: { type: "string", description: "DynamoDB table of the stack", default: "karpenter-serverless" },
  region: { type: "string", description: "AWS region; AWS_REGION when absent", default: process.env["AWS_REGION"] ?? "" },
  apply: { type: "boolean", description: "write what is missing; without it, only say what that is", default: false },
} as const;

const rebuildCommand = defineCommand({
  meta: { name: "rebuild", description: "Makes lost records and NodeClaims of a cluster again, from what is left of them" },
  args: rebuildArgs,
  run: async ({ args }) => {
    // The clients of AWS and Kubernetes are large: only who needs them waits for them.
    const { rebuildCommand: run } = await import("./rebuild/command.ts");
    await saying(() => {
      refuseUnknown(args, rebuildArgs);
      if (args._.length > 0) throw new InputError(`${args._[0]} is in excess; name the cluster with --cluster; ${HELP}`);
      return run(args);
    });
  },
});

const whatIfCommand = defineCommand({
  meta: {
    name: "what-if",
    description: "What a change of definitions would do to the nodes and the bill of a snapshot or a live cluster; changes nothing",
  },
  args: whatIfArgs,
  run: ({ rawArgs }) =>
    saying(async () => {
      const { whatIfCommand: run } = await import("./what-if/what-if.ts");
      return run(rawArgs);
    }),
});

const convertArgs = {
  path: { type: "positional", description: 'files and folders with manifests; "-" is standard input', required: false },
  out: { type: "string", description: "an empty folder to write to, file by file; standard output when absent" },
} as const;

const convertCommand = defineCommand({
  meta: { name: "convert", description: "Makes v1 manifests of those for Karpenter's older APIs (v1alpha5, v1alpha1, v1beta1)" },
  args: convertArgs,
  run: ({ args }) =>
    saying(async () => {
      refuseUnknown({ ...args, _: [] }, convertArgs);
      const { convertCommand: run } = await import("./convert/command.ts");
      const { output, messages, isValid } = run({ paths: args._, ...(args.out !== undefined && { out: args.out }) });
      process.stderr.write(messages.map((line) => `${line}\n`).join(""));
      if (!isValid) process.exitCode = 1;
      return output;
    }),
});

const main = defineCommand({
  meta: { name: "karpenter-serverless", description: "A node autoscaler for EKS without controller pods" },
  subCommands: { solve, consolidate: consolidateCommand, "what-if": whatIfCommand, rebuild: rebuildCommand, convert: convertCommand },
});

// A reader that has seen enough (`| head`) is no fault of ours.
process.stdout.on("error", (error: NodeJS.ErrnoException) => process.exit(error.code === "EPIPE" ? 0 : 1));

const rawArgs = process.argv.slice(2);
if (rawArgs.some((arg) => arg === "--help" || arg === "-h")) await runMain(main, { rawArgs });
else {
  try {
    await runCommand(main, { rawArgs });
  } catch (error) {
    // citty's own complaints, which runMain would follow with a page of usage and exit code 1.
    if (!(error instanceof Error && error.name === "CLIError")) throw error;
    process.stderr.write(`${stripVTControlCharacters(error.message).replace(/\.$/, "")}; ${HELP}\n`);
    process.exitCode = 2;
  }
}
