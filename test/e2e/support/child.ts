import { type ChildProcess, execFile, spawn } from "node:child_process";
import { randomInt } from "node:crypto";
import { closeSync, openSync, readFileSync, rmSync } from "node:fs";
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
  const { name, command, args, logFile, isReady, readyTimeoutMs = 300_000 } = options;
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
  let over = false;
  const ready = async (): Promise<void> => {
    while (!over && !(await isReady().catch(() => false))) {
      if (Date.now() > deadline) {
        throw new Error(`${name} was not ready within ${readyTimeoutMs / 1000} s: ${logEnd(logFile)}`);
      }
      await sleep(50);
    }
  };
  try {
    await Promise.race([ready(), failed]);
  } catch (error) {
    over = true;
    await stopChild(child);
    throw error;
  }
  return { pid: child.pid ?? 0, stop: () => stopChild(child) };
}

/** tether.sh gives its child five seconds; a busy machine may need longer for that. */
const STOP_MS = 20_000;

async function stopChild(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) {
    return;
  }
  const exited = new Promise<boolean>((resolve) => child.once("exit", () => resolve(true)));
  child.stdin?.end();
  if (!(await Promise.race([exited, sleep(STOP_MS, false, { ref: false })]))) {
    try {
      process.kill(-child.pid, "SIGKILL"); // it leads a process group of its own
    } catch {
      // it has ended meanwhile
    }
    await exited;
  }
}

/** Removes a folder in which a process that is ending may still write. */
export function removeDir(dir: string): void {
  rmSync(dir, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
}

function logEnd(logFile: string): string {
  return `…${readFileSync(logFile, "utf8").trim().slice(-800)} (all of it: ${logFile})`;
}

/** Ports from here on are the system's: it gives them to outgoing connections (Linux: 32768 to 60999). */
const SYSTEMS_PORTS = 32_768;
const LOWEST_PORT = 16_384;
const given = new Set<number>();

/**
 * A TCP port of 127.0.0.1 for a process that cannot choose its own. It was free a moment ago, and no outgoing connection takes it meanwhile, as may
 * happen to one of the system's choice; another process that looks for a port at the same time hardly ever draws the same.
 */
export async function freePort(): Promise<number> {
  for (let tries = 0; tries < 100; tries++) {
    const port = randomInt(LOWEST_PORT, SYSTEMS_PORTS);
    if (given.has(port)) continue;
    given.add(port);
    if (await isFree(port)) return port;
  }
  throw new Error(`None of a hundred ports from ${LOWEST_PORT} to ${SYSTEMS_PORTS - 1} of 127.0.0.1 is free.`);
}

async function isFree(port: number): Promise<boolean> {
  return await new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(false));
    server.listen(port, "127.0.0.1", () => server.close(() => resolve(true)));
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
