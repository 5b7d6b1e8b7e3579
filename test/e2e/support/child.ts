import { type ChildProcess, execFile, spawn } from "node:child_process";
import { closeSync, openSync, readFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { supportDir } from "./paths.ts";

/** What to start, and how to know that it is up. */
export type ChildOptions = {
  /** What to call it in an error: "DynamoDB Local". */
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly env?: NodeJS.ProcessEnv;
  readonly cwd?: string;
  /** Gets standard output and error, from the beginning. */
  readonly logFile: string;
  /** Asked every 50 ms until it answers true. */
  readonly isReady: () => Promise<boolean>;
  readonly readyTimeoutMs?: number;
};

/** A running child: it and its descendants end with `stop`, or with this process however that ends. */
export type Child = {
  readonly pid: number;
  readonly stop: () => Promise<void>;
};

/** Starts a server under tether.sh and waits until it is ready. Throws one sentence with the log's end when it does not get there. */
export async function startChild(options: ChildOptions): Promise<Child> {
  const { name, command, args, logFile, isReady, readyTimeoutMs = 60_000 } = options;
  const log = openSync(logFile, "w");
  const child = spawn(join(supportDir, "tether.sh"), [command, ...args], {
    detached: true,
    stdio: ["pipe", log, log],
    ...(options.env === undefined ? {} : { env: options.env }),
    ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
  });
  closeSync(log);
  const failed = new Promise<never>((_, reject) => {
    child.once("error", (cause) => reject(new Error(`${name} could not be started: ${cause.message}`, { cause })));
    child.once("exit", (code) => reject(new Error(`${name} ended with status ${code} before it was ready: ${logEnd(logFile)}`)));
  });
  failed.catch(() => {}); // it also fires at an ordinary stop, when nobody waits any more
  child.stdin?.on("error", () => {}); // EPIPE when the child is gone already
  const deadline = Date.now() + readyTimeoutMs;
  const ready = async (): Promise<void> => {
    while (!(await isReady().catch(() => false))) {
      if (Date.now() > deadline) {
        throw new Error(`${name} was not ready within ${readyTimeoutMs / 1000} s: ${logEnd(logFile)}`);
      }
      await sleep(50);
    }
  };
  try {
    await Promise.race([ready(), failed]);
  } catch (error) {
    await stopChild(child);
    throw error;
  }
  return { pid: child.pid ?? 0, stop: () => stopChild(child) };
}

async function stopChild(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) {
    return;
  }
  const exited = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  child.stdin?.end();
  await Promise.race([exited, sleep(8_000, undefined, { ref: false })]);
}

function logEnd(logFile: string): string {
  return `…${readFileSync(logFile, "utf8").trim().slice(-800)} (all of it: ${logFile})`;
}

/** A TCP port of 127.0.0.1 that was free a moment ago. */
export async function freePort(): Promise<number> {
  return await new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      server.close(() => (address !== null && typeof address === "object" ? resolve(address.port) : reject(new Error("no port"))));
    });
  });
}

/** Runs a command to its end and gives its standard output; a failure is one error with what it said. */
export async function run(
  command: string,
  args: readonly string[],
  options: { readonly env?: NodeJS.ProcessEnv; readonly cwd?: string; readonly input?: string; readonly timeoutMs?: number } = {},
): Promise<string> {
  return await new Promise((resolve, reject) => {
    const child = execFile(
      command,
      args,
      { env: options.env, cwd: options.cwd, timeout: options.timeoutMs ?? 0, maxBuffer: 64 * 1024 * 1024 },
      (error, stdout, stderr) => {
        if (error === null) {
          resolve(stdout);
        } else {
          reject(new Error(`${command} ${args.join(" ")}: ${stderr.trim() || stdout.trim() || error.message}`));
        }
      },
    );
    child.stdin?.on("error", () => {}); // a command that does not read its input closes it
    child.stdin?.end(options.input ?? "");
  });
}
