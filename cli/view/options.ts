import { DEFAULT_STACK } from "#terminal/arguments.ts";
import { type ParsedArguments, text, wholeNumber } from "#terminal/command-line.ts";
import { InputError } from "#terminal/input-error.ts";
import type { LiveChoice } from "../what-if/live.ts";

const list = <Value extends string>(value: Value, description: string) => ({ type: "list", value, description }) as const;

/** How often a live cluster is read, s. */
const DEFAULT_SECONDS = 5;

/** The options of the page itself, which other commands with `--view` take, too. */
const PAGE_OPTIONS = {
  port: text("N", "the port of the page (a free one)"),
  open: { type: "flag", description: "open the page in the browser" },
} as const;

export const VIEW_OPTIONS = {
  context: list("NAME", "a live cluster: context of the kubeconfig; it is only read (several times for several clusters)"),
  kubeconfig: text("FILE", "kubeconfig file; $KUBECONFIG or ~/.kube/config when absent"),
  cluster: list("NAME", "a live EKS cluster that the stack serves: with AWS credentials, and with what the stack's table knows"),
  stack: text("NAME", `CloudFormation stack whose table is used (${DEFAULT_STACK}); without --cluster, all its clusters are shown`),
  table: text("NAME", "with --cluster: that table itself"),
  region: text("REGION", "AWS region; AWS_REGION, or that of the nodes, when absent"),
  every: text("SECONDS", `how often live clusters are read (${DEFAULT_SECONDS})`),
  ...PAGE_OPTIONS,
  terminal: { type: "flag", description: "show it in the terminal in place of a page" },
} as const;

/** What `cli view` is asked for. */
export interface ViewOptions {
  /** Path of a file; absent for live clusters. */
  readonly file?: string;
  readonly clusters: readonly LiveChoice[];
  /** All clusters of this stack are shown. */
  readonly allOfStack?: { readonly stack: string; readonly region: string | undefined };
  /** Between two reads, ms. */
  readonly everyMs: number;
  readonly settings: readonly string[];
  readonly port?: number;
  readonly opens: boolean;
  readonly isTerminal: boolean;
}

/** The options of the parsed words. Throws InputError or ArgumentError. */
export function viewOptions({
  values,
  positionals: [file],
}: ParsedArguments<
  typeof VIEW_OPTIONS & { readonly setting: { readonly type: "list"; readonly value: string; readonly description: string } }
>): ViewOptions {
  const { context, cluster, kubeconfig, stack, table, region, port, open, terminal, every, setting } = values;
  const live = [
    ...(context.length > 0 ? ["--context"] : []),
    ...(cluster.length > 0 ? ["--cluster"] : []),
    ...(stack !== undefined ? ["--stack"] : []),
  ];
  if (file !== undefined && live.length > 0) throw new InputError(`${file} and ${live[0]} are two sources; give one of them`);
  if (context.length > 0 && stack !== undefined)
    throw new InputError("--stack is about --cluster, and not about --context; leave one of them out");
  const seconds = Number(every ?? DEFAULT_SECONDS);
  if (!(seconds >= 1)) throw new InputError(`--every takes a number of seconds from 1 on, not "${every}"`);
  if (terminal && (open || port !== undefined))
    throw new InputError(`--${open ? "open" : "port"} is for the page, and --terminal shows none; leave one of them out`);
  const common = defined({ region });
  const ofStack = defined({ stack, table });
  const isAll = stack !== undefined && cluster.length === 0;
  const contexts = context.length === 0 && cluster.length === 0 && !isAll ? [undefined] : context;
  return {
    ...(file !== undefined && { file }),
    clusters:
      file !== undefined
        ? []
        : [
            ...contexts.map((name) => ({ ...common, ...defined({ kubeconfig, context: name }) })),
            ...cluster.map((name) => ({ ...common, ...ofStack, cluster: name })),
          ],
    ...(isAll && { allOfStack: { stack, region } }),
    everyMs: seconds * 1_000,
    settings: setting,
    ...(port !== undefined && { port: wholeNumber(port, "--port") }),
    opens: open,
    isTerminal: terminal,
  };
}

function defined<T extends object>(fields: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: Exclude<T[K], undefined>;
  };
}
