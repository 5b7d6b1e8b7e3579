import { runView } from "#console/server/run.ts";
import { PortError } from "#console/server/serve.ts";
import type { ViewSource } from "#console/server/source.ts";
import { DEFAULT_SETTINGS } from "#functions/wiring/settings.ts";
import type { Settings } from "#settings/setting-table.ts";
import type { Print } from "#terminal/command.ts";
import { InputError } from "#terminal/input-error.ts";
import { decisionSettingsOf, underSettings } from "../scenario/settings.ts";
import type { LiveChoice } from "../what-if/live.ts";
import { readSourceFile } from "../what-if/source.ts";
import { type ClusterViewSource, clusterSource, type Readable } from "./clusters.ts";
import type { ViewOptions } from "./options.ts";

/** A slow cluster is read less often, so that reading takes a quarter of the time at most. */
const REST = 3;

/** Shows a file or live clusters until Ctrl-C. Throws InputError for what the caller can fix. */
export async function showView(options: ViewOptions, print: Print): Promise<void> {
  const given = decisionSettingsOf(options.settings);
  const settings = { ...DEFAULT_SETTINGS, ...given };
  if (options.file !== undefined) {
    const { file } = options;
    const read = readSourceFile(file);
    const found = { ...read, snapshot: underSettings(read.snapshot, given) };
    const source = clusterSource([{ id: "0", name: found.name, read: async () => found }], { kind: "file", title: found.name, settings });
    // What is wrong with the file has been said; the search for savings runs while the page opens.
    return await shown(source, () => source.look(), options, print);
  }
  const readables = await liveClusters(options, given);
  const source = clusterSource(readables, {
    kind: "live",
    title: readables.length === 1 ? (readables[0]?.name ?? "") : `${readables.length} clusters`,
    settings,
  });
  await shown(source, (hasEnded) => follow(source, options.everyMs, hasEnded), options, print);
}

/** Serves the page, or draws the terminal, while `work` runs. An error of the first look ends both. */
async function shown(
  source: ClusterViewSource,
  work: (hasEnded: () => boolean) => Promise<unknown>,
  options: ViewOptions,
  print: Print,
): Promise<void> {
  const over = new AbortController();
  const working = work(() => over.signal.aborted);
  // A cluster that cannot be read at first ends the view: its server would keep the process alive.
  working.catch(() => over.abort());
  await present(source, options, print, over.signal);
  const hasFailed = over.signal.aborted;
  over.abort();
  if (hasFailed) await working;
}

async function present(source: ViewSource, { port, opens, isTerminal }: ViewOptions, print: Print, signal: AbortSignal): Promise<void> {
  if (isTerminal) {
    const { runTerminal } = await import("./terminal.ts");
    return await runTerminal(source, process.stdin, process.stdout, signal);
  }
  await servePage(source, { ...(port !== undefined && { port }), opens, print, signal });
}

/** Serves a page until Ctrl-C. Throws InputError for a port that is taken. */
export async function servePage(source: ViewSource, options: Parameters<typeof runView>[1]): Promise<void> {
  try {
    await runView(source, options);
  } catch (error) {
    throw error instanceof PortError ? new InputError(error.message) : error;
  }
}

/** Reads the clusters until the view ends. Rejects when the first look reads none. */
async function follow(source: ClusterViewSource, everyMs: number, hasEnded: () => boolean): Promise<void> {
  let isFirst = true;
  while (!hasEnded()) {
    const began = performance.now();
    try {
      await source.look();
    } catch (error) {
      // A cluster that was there and does not answer now shows its last picture, and is asked again.
      if (isFirst) throw error;
    }
    isFirst = false;
    const took = performance.now() - began;
    await new Promise((resolve) => setTimeout(resolve, Math.max(everyMs, took * REST)).unref());
  }
}

/** "prod (us-west-2)" for a context that `aws eks update-kubeconfig` has named by the cluster's ARN. */
export function shortName(context: string): string {
  const [, region, cluster] = /^arn:aws[\w-]*:eks:([^:]+):\d+:cluster\/(.+)$/.exec(context) ?? [];
  return cluster === undefined ? context : `${cluster} (${region})`;
}

async function liveClusters({ clusters, allOfStack }: ViewOptions, given: Partial<Settings>): Promise<readonly Readable[]> {
  const [{ openLive }, { kubeconfigCluster }] = await Promise.all([
    import("../what-if/live.ts"),
    import("#installer/account/kubeconfig.ts"),
  ]);
  const named = await Promise.all(
    clusters.map(async (choice) =>
      // The page names the context that is looked at.
      choice.cluster === undefined && choice.context === undefined
        ? {
            ...choice,
            context: (await kubeconfigCluster(choice.kubeconfig === undefined ? {} : { kubeconfig: choice.kubeconfig })).context,
          }
        : choice,
    ),
  );
  const choices = allOfStack === undefined ? named : await choicesOf(allOfStack);
  return choices.map((choice, i) => {
    let opened: ReturnType<typeof openLive> | undefined;
    return {
      id: String(i),
      name: choice.cluster ?? shortName(choice.context ?? ""),
      history: async (range) => (await opened)?.history?.(range),
      read: async () => {
        opened ??= openLive(choice, given);
        try {
          return await (await opened).read();
        } catch (error) {
          // Credentials may have expired: the next read connects again.
          opened = undefined;
          throw error;
        }
      },
    };
  });
}

/** With the clusters that were added to the stack, which its table has. */
async function withAdded(
  named: readonly string[],
  { AccessPath: path, TableName: tableName }: Readonly<Record<string, string>>,
  region: string,
): Promise<readonly string[]> {
  if (path === undefined || tableName === undefined) return named;
  const [{ DynamoDBClient }, { clusterRecords }, { dynamoTable }, { servingBy }] = await Promise.all([
    import("@aws-sdk/client-dynamodb"),
    import("#adapters/store/cluster-records.ts"),
    import("#adapters/store/table-dynamodb.ts"),
    import("#installer/account/serving.ts"),
  ]);
  const records = await clusterRecords(dynamoTable({ name: tableName, client: new DynamoDBClient({ region }) })).list();
  return servingBy(named, records).names;
}

/** The clusters that a stack serves. */
async function choicesOf({
  stack,
  region = process.env["AWS_REGION"],
}: NonNullable<ViewOptions["allOfStack"]>): Promise<readonly LiveChoice[]> {
  if (region === undefined || region === "")
    throw new InputError("say in which region the stack is: --region us-west-2, or set AWS_REGION");
  const [{ stackOutputs }, { ownCaller }] = await Promise.all([
    import("#adapters/aws/stack-outputs.ts"),
    import("#adapters/aws/own-caller.ts"),
  ]);
  const outputs = await stackOutputs(stack, ownCaller("CLOUDFORMATION", region)).catch((error: unknown) => {
    throw new InputError(`${error instanceof Error ? error.message : String(error)}; name the clusters with --cluster`);
  });
  const named = outputs["Clusters"]?.split(",") ?? [];
  const names = await withAdded(named, outputs, region);
  if (names.length === 0) throw new InputError(`stack ${stack} in ${region} has no output Clusters; name its clusters with --cluster`);
  return names.map((cluster) => ({ cluster, stack, region }));
}
