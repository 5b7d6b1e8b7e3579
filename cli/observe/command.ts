// `cli observe`: records what a cluster's users ask for and what its autoscaler makes of it, and plays the same
// demand with karpenter-serverless in a simulated cluster. In: a live cluster, which is only read, or a trace. Out: a
// trace, or a comparison as text, Markdown or JSON. It writes nothing but the trace.

import { existsSync } from "node:fs";
import { parseDuration } from "#core/lib/duration.ts";
import { PROGRAM } from "#settings/program.ts";
import { SETTING } from "#terminal/arguments.ts";
import { type Answer, defineCommand, type Print } from "#terminal/command.ts";
import { flag, type OptionValues, oneOf, text, wholeNumber } from "#terminal/command-line.ts";
import { settingsOf } from "#terminal/given-settings.ts";
import { InputError } from "#terminal/input-error.ts";

const DEFAULT_EVERY = "15s";
const DEFAULT_SEED = 1;
const FORMATS = ["text", "markdown", "html", "json"] as const;

const OPTIONS = {
  context: text("NAME", "context of the kubeconfig, whose cluster is observed (the current one)"),
  kubeconfig: text("FILE", "kubeconfig file; $KUBECONFIG or ~/.kube/config when absent"),
  region: text("REGION", "AWS region; AWS_REGION, or that of the nodes, when absent"),
  record: text("FILE", "the trace to write, or to continue (observed-CLUSTER.trace.gz)"),
  every: text("TIME", `time between two looks, as in 30s (${DEFAULT_EVERY})`),
  for: text("TIME", "record for so long, as in 2h or 168h; until Ctrl-C when absent"),
  rights: flag("print the ClusterRole that a recording needs, and do nothing else"),
  replay: text("FILE", "play the demand of this trace with karpenter-serverless, and compare"),
  apply: {
    type: "list",
    value: "PATH",
    description: "with --replay: NodePools and EC2NodeClasses in place of the recorded ones (several times)",
  },
  setting: SETTING,
  seed: text("N", `with --replay: the seed of all random choices (${DEFAULT_SEED})`),
  format: text("FORMAT", `with --replay: ${FORMATS.join(", ")} (text)`),
} as const;

export const observeCommand = defineCommand({
  name: "observe",
  summary: "Looks on beside the autoscaler of a cluster, writes nothing to it, and says what karpenter-serverless would have done",
  options: OPTIONS,
  run: async ({ values }, print) => {
    if (values.rights) return { output: (await import("./rights.ts")).readRights() };
    return values.replay === undefined ? recording(values, print) : replayed(values.replay, values);
  },
});

type Values = OptionValues<typeof OPTIONS>;

async function replayed(path: string, { setting, apply, seed, format = "text", ...others }: Values): Promise<Answer> {
  const idle = (["context", "kubeconfig", "region", "record", "every", "for"] as const).find((name) => others[name] !== undefined);
  if (idle !== undefined) throw new InputError(`--${idle} is for a recording; leave it out with --replay`);
  const chosen = oneOf(format, FORMATS, "--format");
  const { settings, unused } = settingsOf(setting);
  const number = seed === undefined ? DEFAULT_SEED : wholeNumber(seed, "--seed");
  const [{ readTrace }, { compared }, reports, { reportHtml }] = await Promise.all([
    import("./trace-file.ts"),
    import("./replay.ts"),
    import("./report.ts"),
    import("./html.ts"),
  ]);
  const comparison = await compared(readTrace(path), { settings, apply, seed: number });
  const show = { text: reports.reportText, markdown: reports.reportMarkdown, html: reportHtml, json: reports.reportJson }[chosen];
  return { output: show(comparison), messages: unused.map((name) => `The setting ${name} has no effect in a replay.`) };
}

async function recording(
  { context, kubeconfig, region, record: path, every, for: length, ...others }: Values,
  print: Print,
): Promise<Answer> {
  const idle =
    (["seed", "format"] as const).find((name) => others[name] !== undefined) ??
    (others.setting.length > 0 ? "setting" : others.apply.length > 0 ? "apply" : undefined);
  if (idle !== undefined) throw new InputError(`--${idle} is for a replay; add --replay FILE`);
  const everyMs = time(every ?? DEFAULT_EVERY, "--every");
  const forMs = length === undefined ? undefined : time(length, "--for");
  const [{ liveCluster }, { record }, { readTrace }] = await Promise.all([
    import("./live.ts"),
    import("./record.ts"),
    import("./trace-file.ts"),
  ]);
  const observed = await liveCluster({ context, kubeconfig, region }, print);
  const file = path ?? `observed-${observed.cluster.replaceAll(/[^\w.-]+/g, "-")}.trace.gz`;
  const earlier = existsSync(file) ? readTrace(file) : undefined;
  if (earlier !== undefined && earlier.header.cluster !== observed.cluster)
    throw new InputError(
      `${file} is the trace of cluster ${earlier.header.cluster}, not of ${observed.cluster}; name another file with --record`,
    );
  await record(observed, { path: file, earlier, everyMs, forMs });
  return { output: `\nWhat karpenter-serverless would have done: ${PROGRAM} observe --replay ${file}\n` };
}

/** ms. */
function time(given: string, option: string): number {
  const ms = parseDuration(given);
  if (ms !== undefined && ms >= 1_000) return ms;
  throw new InputError(`${option} takes a time of a second or more, as in 30s, 2h or 168h, not "${given}"`);
}
