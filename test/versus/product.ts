import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { FUNCTION_NAMES, FUNCTIONS, type FunctionName } from "#infra/functions.ts";
import { bundleFunctions, STACK, startDeployment } from "../e2e/deployment.ts";
import type { Stage } from "../e2e/stage.ts";
import { awsJson } from "../e2e/support/aws-call.ts";
import { removeDir } from "../e2e/support/child.ts";
import { wholeLines } from "../e2e/support/growing-log.ts";
import type { MiniStack } from "../e2e/support/ministack.ts";
import type { Autoscaler } from "./autoscaler.ts";
import { unansweredCalls } from "./observe.ts";
import { processesBelow } from "./processes.ts";
import { startWarmFunctionUrl } from "./warm-function-url.ts";

/** Each course has its own cluster, but all have the same bundles. */
let bundles: Promise<string> | undefined;

function bundleOnce(): Promise<string> {
  const dir = mkdtempSync(join(tmpdir(), "versus-bundles-"));
  process.once("exit", () => removeDir(dir));
  return bundleFunctions(dir);
}

/** What tells the functions of pods, beside their own sweeps. */
export type PodSource = "webhook" | "audit" | "sweep";

/** Deploys the functions. */
export async function startProduct(stage: Stage, source: PodSource = "webhook"): Promise<Autoscaler> {
  bundles ??= bundleOnce();
  const deployment = await startDeployment({ stage, bundles: await bundles });
  const { ministack, dynamodb } = deployment;
  const { cluster, dataDir } = stage;
  const notify = await startWarmFunctionUrl({
    ...{ name: "notify", functionName: `${STACK}-notify`, bundles: await bundles, ministack, dynamodbUrl: dynamodb.url, cluster, dataDir },
  });
  if (source === "webhook") await deployment.registerWebhook(notify);
  if (source === "audit") await deployment.listenToAudit();
  const users = new Set(deployment.identities.map(({ username }) => username));
  return {
    name: "product",
    isUser: (username) => users.has(username),
    async usage() {
      const all = processesBelow(ministack.pid);
      const functions = all.filter(({ command }) => command.includes("lambda-worker.cjs"));
      const warm = processesBelow(notify.pid);
      // A function process that has ended is counted by its parent.
      const parents = new Set(functions.map(({ parent }) => parent));
      const ended = all
        .filter(({ pid }) => parents.has(pid))
        .reduce((sum, { endedChildrenCpuSeconds }) => sum + endedChildrenCpuSeconds, 0);
      const billed = await Promise.all(
        FUNCTION_NAMES.map(async (name) => ({ name, ms: name === "notify" ? notify.durationsMs() : await billedMs(ministack, name) })),
      );
      return {
        cpuSeconds: [...functions, ...warm].reduce((sum, { cpuSeconds }) => sum + cpuSeconds, ended),
        peakMb: Math.max(0, ...functions.map(({ peakMb }) => peakMb)),
        invocations: billed.reduce((sum, { ms }) => sum + ms.length, 0),
        gbSeconds: billed.reduce(
          (sum, { name, ms }) => sum + (ms.reduce((a, b) => a + b, 0) / 1_000) * (FUNCTIONS[name].memory / 1_024),
          0,
        ),
      };
    },
    async logs() {
      const file = join(dataDir, "functions.log");
      writeFileSync(file, (await functionLog(ministack)).join("\n"));
      return [file, notify.logFile, join(dataDir, "ministack.log")];
    },
    troubles: () => unansweredCalls(wholeLines(join(stage.dataDir, "cluster", "testcluster.log"))),
    notify: (event) => deployment.putEvents([event]),
    stop: deployment.stop,
  };
}

interface Page {
  readonly events: readonly { readonly message: string; readonly timestamp: number }[];
  readonly nextToken?: string;
}

/** The billed time of each invocation of a function so far, from the REPORT lines of its log group. */
async function billedMs(ministack: MiniStack, name: FunctionName): Promise<readonly number[]> {
  const reports = await linesOf(ministack, name, "REPORT");
  return reports.flatMap(({ message }) => /Billed Duration: (\d+) ms/.exec(message)?.slice(1).map(Number) ?? []);
}

/** What all functions have logged so far, by time; each line begins with its time and function. */
async function functionLog(ministack: MiniStack): Promise<readonly string[]> {
  const lines = await Promise.all(FUNCTION_NAMES.map(async (name) => (await linesOf(ministack, name)).map((line) => ({ ...line, name }))));
  return lines
    .flat()
    .sort((a, b) => a.timestamp - b.timestamp)
    .map(({ timestamp, name, message }) => `${new Date(timestamp).toISOString()} ${name} ${message.trimEnd()}`);
}

/** The lines of a function's log group so far: all, or those with a word. */
async function linesOf(ministack: MiniStack, name: FunctionName, filterPattern?: string): Promise<Page["events"]> {
  const found: Page["events"][number][] = [];
  let nextToken: string | undefined;
  do {
    const page = await awsJson<Page>(
      ministack,
      "logs",
      "Logs_20140328.FilterLogEvents",
      {
        logGroupName: `/aws/lambda/${STACK}-${name}`,
        limit: 10_000,
        ...(filterPattern && { filterPattern }),
        ...(nextToken && { nextToken }),
      },
      // A function that was never invoked has no log group.
    ).catch((): Page => ({ events: [] }));
    found.push(...page.events);
    nextToken = page.nextToken;
  } while (nextToken !== undefined);
  return found;
}
