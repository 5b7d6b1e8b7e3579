import { defineCommand, runMain } from "citty";
import { consolidate, explainConsolidation } from "./consolidate.ts";
import { InputError } from "./scenario.ts";
import { solveCommand } from "./solve.ts";

const file = { type: "positional", description: 'a scenario in JSON, plain or gzipped; "-" is standard input' } as const;
const explain = {
  type: "boolean",
  description: "for people: what is done, at what price, and why the rest is not",
  default: false,
} as const;

/** Runs a command whose input may be bad: one sentence and exit code 2 then, never a stack trace. */
function saying(body: () => string): void {
  try {
    process.stdout.write(body());
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exitCode = 2;
  }
}

const solve = defineCommand({
  meta: { name: "solve", description: "Plans nodes for the pending pods of a scenario" },
  args: { file: { ...file, required: true }, explain },
  run: ({ args }) => saying(() => solveCommand(args.file, { explain: args.explain })),
});

const consolidateCommand = defineCommand({
  meta: { name: "consolidate", description: "Plans one pass of disruption over a scenario" },
  args: {
    file: { ...file, required: true },
    explain,
    "spot-to-spot": { type: "boolean", description: "replace spot nodes by cheaper spot nodes", default: false },
  },
  run: ({ args }) =>
    saying(() => {
      const plan = consolidate(args.file, { explain: args.explain, spotToSpotConsolidation: args["spot-to-spot"] });
      return args.explain ? explainConsolidation(plan) : `${JSON.stringify(plan, null, 2)}\n`;
    }),
});

await runMain(
  defineCommand({
    meta: { name: "karpenter-serverless", description: "A node autoscaler for EKS without controller pods" },
    subCommands: { solve, consolidate: consolidateCommand },
  }),
);
