import { parseArgs } from "node:util";
import { nearest } from "../../core/lib/nearest.ts";
import { InputError } from "../scenario/scenario.ts";

const text = (description: string) => ({ type: "string", description }) as const;
const flag = (description: string) => ({ type: "boolean", description, default: false }) as const;

/** The command's words, as `--help` shows them. What may be given several times says so. */
export const whatIfArgs = {
  source: {
    type: "positional",
    required: false,
    description: 'a snapshot or scenario, plain or gzipped ("-" is standard input); not needed with --context, --kubeconfig or --cluster',
  },
  context: text("a live cluster: context of the kubeconfig; it is only read"),
  kubeconfig: text("kubeconfig file; $KUBECONFIG or ~/.kube/config when absent"),
  cluster: text("a live EKS cluster that the stack serves, by name: with AWS credentials, and with what the stack's table knows"),
  table: text("DynamoDB table of the stack (karpenter-serverless)"),
  region: text("AWS region; AWS_REGION, or that of the nodes, when absent"),
  save: text("write the cluster to this file (.gz compresses) and do nothing else; environment, images and user data are left out"),
  apply: text("manifests, as if applied: NodePool, EC2NodeClass, NodeOverlay, PodDisruptionBudget (file or folder; several times)"),
  set: text("one field, as in nodepool/default.spec.disruption.consolidateAfter=30s (several times)"),
  budget: text("one budget in place of a pool's own, as in default=20% or 20% for all pools (several times)"),
  family: text("only these instance families, as in m7g,c7g"),
  "not-family": text("without these instance families"),
  "capacity-type": text("only these of spot, on-demand, reserved"),
  pool: text("pools that --family, --not-family and --capacity-type are about; all when absent"),
  delete: text("a NodePool that is deleted, its nodes with it (several times)"),
  "from-scratch": flag("also what it would cost if all nodes were bought anew today, whatever that disrupts"),
  "spot-to-spot": flag("replace spot nodes by cheaper spot nodes"),
  days: text("how far ahead to look (7)"),
  decisions: text("stop after so many decisions of disruption (100, and 4 for each node)"),
  format: text("table or json (table)"),
} as const;

const SEVERAL: ReadonlySet<string> = new Set(["apply", "set", "budget", "family", "not-family", "capacity-type", "pool", "delete"]);

/** What somebody asks of `cli what-if`. */
export interface WhatIfOptions {
  /** Path of a file; absent for a live cluster. */
  readonly file?: string;
  readonly context?: string;
  readonly kubeconfig?: string;
  readonly cluster?: string;
  readonly table: string;
  readonly region?: string;
  readonly save?: string;
  readonly wishes: Wishes;
  readonly fromScratch: boolean;
  readonly spotToSpot: boolean;
  readonly days: number;
  readonly decisions?: number;
  readonly format: "table" | "json";
}

/** What is to be different, as it was asked for. */
export interface Wishes {
  readonly apply: readonly string[];
  readonly set: readonly string[];
  readonly budgets: readonly string[];
  readonly families: readonly string[];
  readonly notFamilies: readonly string[];
  readonly capacityTypes: readonly string[];
  readonly pools: readonly string[];
  readonly deleted: readonly string[];
}

const HELP = "see npm run -s cli -- what-if --help";

/** Reads the words of a command line. Throws InputError. */
export function parseWhatIf(rawArgs: readonly string[]): WhatIfOptions {
  const { values, positionals } = read(rawArgs);
  const one = (name: string): string | undefined => values[name]?.at(-1) as string | undefined;
  const lists = (name: string): readonly string[] => (values[name] ?? []).map(String);
  const words = (name: string): readonly string[] => lists(name).flatMap((value) => value.split(",").map((word) => word.trim()));
  const [file, second] = positionals;
  if (second !== undefined) throw new InputError(`one source is enough, but there is also ${second}; ${HELP}`);
  const live = ["context", "kubeconfig", "cluster"].filter((name) => one(name) !== undefined);
  if (file !== undefined && live.length > 0) throw new InputError(`${file} and --${live[0]} are two sources; give one of them`);
  if (file === undefined && live.length === 0)
    throw new InputError(`name a snapshot file, or a live cluster with --context NAME or --cluster NAME; ${HELP}`);
  const format = one("format") ?? "table";
  if (format !== "table" && format !== "json") throw new InputError(`--format is table or json, not "${format}"`);
  const days = Number(one("days") ?? 7);
  if (!(days > 0)) throw new InputError(`--days takes a number above 0, not "${one("days")}"`);
  const decisions = one("decisions") === undefined ? undefined : Number(one("decisions"));
  if (decisions !== undefined && !(Number.isInteger(decisions) && decisions > 0))
    throw new InputError(`--decisions takes a whole number above 0, not "${one("decisions")}"`);
  const optional = {
    file,
    context: one("context"),
    kubeconfig: one("kubeconfig"),
    cluster: one("cluster"),
    region: one("region"),
    save: one("save"),
    decisions,
  };
  return {
    ...(Object.fromEntries(Object.entries(optional).filter(([, value]) => value !== undefined)) as Partial<WhatIfOptions>),
    table: one("table") ?? "karpenter-serverless",
    wishes: {
      apply: lists("apply"),
      set: lists("set"),
      budgets: lists("budget"),
      families: words("family"),
      notFamilies: words("not-family"),
      capacityTypes: words("capacity-type"),
      pools: words("pool"),
      deleted: lists("delete"),
    },
    fromScratch: values["from-scratch"] !== undefined,
    spotToSpot: values["spot-to-spot"] !== undefined,
    days,
    format,
  };
}

/** Options that were given more than once are an error where they take one value: it would not be clear which one counts. */
function read(rawArgs: readonly string[]) {
  const names = Object.keys(whatIfArgs).filter((name) => name !== "source");
  const options = Object.fromEntries(
    Object.entries(whatIfArgs).flatMap(([name, { type }]) => (type === "positional" ? [] : [[name, { type, multiple: true }]])),
  );
  try {
    const { values, positionals } = parseArgs({ args: [...rawArgs], allowPositionals: true, options });
    for (const [name, given] of Object.entries(values)) {
      if (!SEVERAL.has(name) && Array.isArray(given) && given.length > 1)
        throw new InputError(`--${name} is given twice; leave one of them out`);
    }
    return { values: values as Readonly<Record<string, readonly (string | boolean)[] | undefined>>, positionals };
  } catch (error) {
    if (error instanceof InputError) throw error;
    const [, unknown] = /Unknown option '--?([\w-]+)/.exec(String(error)) ?? [];
    if (unknown === undefined) throw new InputError(`${error instanceof Error ? error.message.split(/\.\s/)[0] : String(error)}; ${HELP}`);
    const near = nearest(unknown, names);
    throw new InputError(`there is no option --${unknown}; ${near === undefined ? HELP : `did you mean --${near}?`}`);
  }
}
