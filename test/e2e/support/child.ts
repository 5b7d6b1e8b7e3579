import { type ChildProcess, execFile, spawn } from "node:child_process";
import { randomInt } from "node:crypto";
import { closeSync, openSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { supportDir } from "./paths.ts";

/** The command of a child process, and how to know that it is ready. */
export type ChildOptions = {
  /** Its name in error messages: "DynamoDB Local". */
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly env?: NodeJS.ProcessEnv;
  readonly cwd?: string;
  /** The log file of standard output and standard error. */
  readonly logFile: string;
  /** Called every 50 ms until it returns true. */
  readonly isReady: () => Promise<boolean>;
  readonly readyTimeoutMs?: number;
};

/** A running child process. It and its descendants end with `stop`, or when this process ends for any reason. */
export type Child = {
  readonly pid: number;
  readonly stop: () => Promise<void>;
};

/**
 * Starts a server under tether.sh and waits until it is ready. Throws one sentence with the end of the log when it
 * never is.
 */
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
  failed.catch(() => {}); // it also rejects at an ordinary stop, when no caller awaits it
  child.stdin?.on("error", () => {}); // EPIPE when the child has ended
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
      process.kill(-child.pid, "SIGKILL"); // the child leads its own process group
    } catch {
      // The child has ended meanwhile.
    }
    await exited;
  }
}

/** Removes a folder that an ending process may still write to. */
export function removeDir(dir: string): void {
  rmSync(dir, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
}

function logEnd(logFile: string): string {
  return `…${readFileSync(logFile, "utf8").trim().slice(-800)} (all of it: ${logFile})`;
}

/** From this port on, the system assigns ports to outgoing connections (Linux: 32768 to 60999). */
const SYSTEMS_PORTS = 32_768;
const LOWEST_PORT = 16_384;
const given = new Set<number>();

/**
 * A free TCP port of 127.0.0.1 for a process that cannot choose its own. No outgoing connection takes it before the
 * process starts, as could happen to a port that the system chooses. Another process that looks for a port at the same
 * time is unlikely to draw the same one.
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

/** Runs a command to its end and returns its standard output. Throws one error with the command's output. */
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
    child.stdin?.on("error", () => {}); // EPIPE when the command does not read its input
    child.stdin?.end(options.input ?? "");
  });
}
