import { PROGRAM } from "#settings/program.ts";
import { DEFAULT_STACK, SETTING, SPOT_TO_SPOT } from "#terminal/arguments.ts";
import { oneOf, type ParsedArguments, text, wholeNumber } from "#terminal/command-line.ts";
import { InputError } from "#terminal/input-error.ts";
import type { TableChoice } from "../stack-table.ts";

export const WHAT_IF_SOURCE = {
  name: "SOURCE",
  description: 'a snapshot or scenario, plain or gzipped ("-" is standard input); not needed with --context, --kubeconfig or --cluster',
  isRequired: false,
  isList: false,
} as const;

const DEFAULT_DAYS = 7;

const list = <Value extends string>(value: Value, description: string) => ({ type: "list", value, description }) as const;

export const WHAT_IF_OPTIONS = {
  context: text("NAME", "a live cluster: context of the kubeconfig; it is only read"),
  kubeconfig: text("FILE", "kubeconfig file; $KUBECONFIG or ~/.kube/config when absent"),
  cluster: text("NAME", "a live EKS cluster that the stack serves: with AWS credentials, and with what the stack's table knows"),
  stack: text("NAME", `with --cluster: CloudFormation stack whose table is used (${DEFAULT_STACK})`),
  table: text("NAME", "with --cluster: that table itself"),
  region: text("REGION", "AWS region; AWS_REGION, or that of the nodes, when absent"),
  save: text("FILE", "write the cluster to this file (.gz compresses) and do nothing else; environment, images and user data are left out"),
  apply: list("PATH", "manifests, as if applied: NodePool, EC2NodeClass, NodeOverlay, PodDisruptionBudget (file or folder; several times)"),
  set: list("FIELD=VALUE", "one field, as in nodepool/default.spec.disruption.consolidateAfter=30s (several times)"),
  budget: list("POOL=NODES", "one budget in place of a pool's own, as in default=20% or 20% for all pools (several times)"),
  family: list("NAMES", "only these instance families, as in m7g,c7g"),
  "not-family": list("NAMES", "without these instance families"),
  "capacity-type": list("NAMES", "only these of spot, on-demand, reserved"),
  pool: list("NAMES", "pools that --family, --not-family and --capacity-type are about; all when absent"),
  delete: list("POOL", "a NodePool that is deleted, its nodes with it (several times)"),
  "from-scratch": { type: "flag", description: "also what it would cost if all nodes were bought again today, whatever that disrupts" },
  "spot-to-spot": SPOT_TO_SPOT,
  setting: SETTING,
  days: text("N", `how far ahead to look (${DEFAULT_DAYS})`),
  decisions: text("N", "stop after so many decisions of disruption (100, and 4 for each node)"),
  quiet: { type: "flag", description: "no progress on standard error" },
  format: text("FORMAT", "table or json (table)"),
  view: { type: "flag", description: "show the answer in the browser: before and after side by side, each node's fate, the bill" },
  port: text("N", "with --view: the port of the page (a free one)"),
  open: { type: "flag", description: "with --view: open the page in the browser" },
} as const;

/** What `cli what-if` is asked for. */
export interface WhatIfOptions extends TableChoice {
  /** Path of a file; absent for a live cluster. */
  readonly file?: string;
  readonly context?: string;
  readonly kubeconfig?: string;
  readonly cluster?: string;
  readonly region?: string;
  /** Path of the file to write; nothing else is done then. */
  readonly save?: string;
  readonly request: ChangeRequest;
  readonly fromScratch: boolean;
  readonly spotToSpot: boolean;
  /** "NAME=VALUE". */
  readonly settings?: readonly string[];
  /** How far ahead to look. */
  readonly days: number;
  /** Most decisions of disruption. */
  readonly decisions?: number;
  /** No progress is shown. */
  readonly quiet: boolean;
  readonly format: "table" | "json";
  /** The answer is shown as a page. */
  readonly page?: { readonly port?: number; readonly opens: boolean };
}

/** What is to be different, in the words of the command line. */
export interface ChangeRequest {
  /** Paths of manifests. */
  readonly apply: readonly string[];
  /** "nodepool/default.spec.weight=10". */
  readonly set: readonly string[];
  /** "default=20%", or "20%" for all pools. */
  readonly budgets: readonly string[];
  readonly families: readonly string[];
  readonly notFamilies: readonly string[];
  readonly capacityTypes: readonly string[];
  /** NodePools that the families and capacity types are about; all when empty. */
  readonly pools: readonly string[];
  readonly deleted: readonly string[];
}

const HELP = `see ${PROGRAM} what-if --help`;

/** The options of the parsed words. Throws InputError or ArgumentError. */
export function whatIfOptions({ values, positionals: [file] }: ParsedArguments<typeof WHAT_IF_OPTIONS>): WhatIfOptions {
  const { context, kubeconfig, cluster, region, save, table, stack } = values;
  const live = Object.entries({ context, kubeconfig, cluster }).flatMap(([name, value]) => (value === undefined ? [] : [name]));
  if (file !== undefined && live.length > 0) throw new InputError(`${file} and --${live[0]} are two sources; give one of them`);
  if (file === undefined && live.length === 0)
    throw new InputError(`name a snapshot file, or a live cluster with --context NAME or --cluster NAME; ${HELP}`);
  if (values.view && values.format !== undefined) throw new InputError("--view shows a page and --format prints; give one of them");
  if (!values.view && (values.open || values.port !== undefined))
    throw new InputError(`--${values.open ? "open" : "port"} is for the page; add --view`);
  const port = values.port === undefined ? {} : { port: wholeNumber(values.port, "--port") };
  const days = Number(values.days ?? DEFAULT_DAYS);
  if (!(days > 0)) throw new InputError(`--days takes a number above 0, not "${values.days}"`);
  const decisions = values.decisions === undefined ? undefined : wholeNumber(values.decisions, "--decisions");
  const optional = { file, context, kubeconfig, cluster, table, stack, region, save, decisions };
  return {
    ...(Object.fromEntries(Object.entries(optional).filter(([, value]) => value !== undefined)) as Partial<WhatIfOptions>),
    request: {
      apply: values.apply,
      set: values.set,
      budgets: values.budget,
      families: words(values.family),
      notFamilies: words(values["not-family"]),
      capacityTypes: words(values["capacity-type"]),
      pools: words(values.pool),
      deleted: values.delete,
    },
    fromScratch: values["from-scratch"],
    spotToSpot: values["spot-to-spot"],
    settings: values.setting,
    days,
    quiet: values.quiet,
    ...(values.view && { page: { ...port, opens: values.open } }),
    format: oneOf(values.format ?? "table", ["table", "json"], "--format"),
  };
}

/** Several names in one value, as in "m7g,c7g". */
const words = (values: readonly string[]): readonly string[] => values.flatMap((value) => value.split(",").map((word) => word.trim()));
