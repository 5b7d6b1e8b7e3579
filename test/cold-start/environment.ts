import { spawn } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { withProjectNode } from "../e2e/support/paths.ts";
import { eventually } from "../e2e/support/wait.ts";
import { startRuntimeApi } from "./runtime-api.ts";

/** One cold start and the first two invocations, in milliseconds. */
export interface ColdStart {
  /** From the start of the process to its first request for an event; Lambda bills and reports it as init. */
  readonly init: number;
  /** The start of Node, before any of our code or of the interface client's. */
  readonly node: number;
  /** Reading, parsing and compiling the bundle. */
  readonly compile: number;
  /** Running the top level of all modules in it. */
  readonly evaluate: number;
  /** The handler's own statements: configuration, log, clients. */
  readonly wire: number;
  readonly firstInvoke: number;
  readonly secondInvoke: number;
  /** Resident memory after the first invocations, MB. */
  readonly memory: number;
}

export interface Environment {
  /** The interface client's entry. */
  readonly interfaceClient: string;
  /** The bundle, as built with `MARKS`. */
  readonly bundle: string;
  /** The function's environment variables. */
  readonly variables: Readonly<Record<string, string>>;
  readonly event: unknown;
  /** The folder of the wrapper and of the function's output. */
  readonly dir: string;
}

/** The global name under which a marked bundle leaves its times for the wrapper. */
export const MARKS = "__coldStart";

/**
 * Lambda's interface client loads this wrapper in place of the bundle. The wrapper loads the bundle and records times.
 * It writes to the file descriptor itself, because the client replaces the console.
 */
const wrapper = (bundle: string): string => `import { writeSync } from "node:fs";
const marks = globalThis.${MARKS} = { began: performance.now() };
const { handler: handle } = await import(${JSON.stringify(pathToFileURL(bundle).href)});
marks.loaded = performance.now();
marks.node = performance.nodeTiming.bootstrapComplete;
writeSync(1, "\\n${MARKS} " + JSON.stringify(marks) + "\\n");
let calls = 0;
export const handler = async (event, context) => {
  const answer = await handle(event, context);
  if (++calls === 2) writeSync(1, "\\n${MARKS} " + JSON.stringify({ memory: process.memoryUsage().rss }) + "\\n");
  return answer;
};
`;

/**
 * Starts a new execution environment, invokes it twice with the event, and ends it. Throws when init or an invocation
 * fails.
 */
export async function coldStart({ interfaceClient, bundle, variables, event, dir }: Environment): Promise<ColdStart> {
  const taskRoot = join(dir, "task");
  mkdirSync(taskRoot, { recursive: true });
  writeFileSync(join(taskRoot, "index.mjs"), wrapper(bundle));
  const api = await startRuntimeApi("arn:aws:lambda:us-west-2:111122223333:function:cold-start");
  const began = performance.now();
  const child = spawn(process.execPath, [interfaceClient], {
    stdio: ["ignore", "pipe", "pipe"],
    env: {
      PATH: withProjectNode()["PATH"],
      AWS_LAMBDA_RUNTIME_API: api.address,
      LAMBDA_TASK_ROOT: taskRoot,
      _HANDLER: "index.handler",
      AWS_LAMBDA_FUNCTION_NAME: "cold-start",
      AWS_LAMBDA_FUNCTION_VERSION: "$LATEST",
      AWS_LAMBDA_FUNCTION_MEMORY_SIZE: "1024",
      AWS_LAMBDA_LOG_GROUP_NAME: "/aws/lambda/cold-start",
      AWS_LAMBDA_LOG_STREAM_NAME: "1",
      AWS_EXECUTION_ENV: "AWS_Lambda_nodejs24.x",
      ...variables,
    },
  });
  let printed = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk: Buffer) => (printed += String(chunk)));
  const ended = new Promise<never>((_, reject) => {
    child.once("exit", (code) => reject(new Error(`the environment ended with status ${code}: ${printed.slice(-1500)}`)));
    child.once("error", reject);
  });
  ended.catch(() => {});
  try {
    const ready = await Promise.race([api.ready, ended]);
    const invoke = async (): Promise<number> => {
      const sent = performance.now();
      const { at, answer } = await Promise.race([api.invoke(event), ended]);
      if (!hasWorked(answer)) throw new Error(`the invocation went wrong: ${JSON.stringify(answer)}, after: ${printed.slice(-3000)}`);
      return at - sent;
    };
    const firstInvoke = await invoke();
    const secondInvoke = await invoke();
    // The printed times and the answer use different channels, so the times may arrive later.
    const marks = await eventually("the environment prints its times", () => {
      const seen = marksIn(printed);
      return "loaded" in seen && "memory" in seen ? seen : undefined;
    });
    const { node = 0, began: imported = 0, evaluate = 0, wire = 0, loaded = 0, memory = 0 } = marks;
    return {
      ...{ init: ready - began, node, firstInvoke, secondInvoke },
      ...{ compile: evaluate - imported, evaluate: wire - evaluate, wire: loaded - wire, memory: memory / 1024 / 1024 },
    };
  } finally {
    child.kill("SIGKILL");
    await api.close();
  }
}

/** Whether the answer is a batch without failures or an HTTP answer without an error. */
function hasWorked(answer: unknown): boolean {
  const { batchItemFailures = [], statusCode = 200 } = (answer ?? {}) as { batchItemFailures?: readonly unknown[]; statusCode?: number };
  return batchItemFailures.length === 0 && statusCode === 200;
}

function marksIn(printed: string): Readonly<Record<string, number>> {
  const lines = printed.split("\n").flatMap((line) => (line.startsWith(`${MARKS} `) ? line.slice(MARKS.length + 1) : []));
  return Object.assign({}, ...lines.map((line) => JSON.parse(line) as object)) as Readonly<Record<string, number>>;
}
