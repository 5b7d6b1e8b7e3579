import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { AwsTarget } from "./aws-call.ts";
import { freePort, run, startChild } from "./child.ts";
import { wholeLines } from "./growing-log.ts";
import { cacheDir, projectRoot, supportDir } from "./paths.ts";

/** Versions that belong together: MiniStack imports aws-sam-translator for templates with a SAM transform. */
const packages = ["ministack==1.5.33", "aws-sam-translator==1.115.0"];

/** A running MiniStack: SQS, events, Scheduler, Logs, Lambda, IAM, S3, CloudFormation on one port. */
export type MiniStack = AwsTarget & {
  readonly accountId: string;
  /** The process below which MiniStack and the function processes run. */
  readonly pid: number;
  /** The output of MiniStack so far, including that of failed functions. */
  readonly logs: () => string;
  /** The EKS access entries of the deployed templates. */
  readonly accessEntries: () => readonly AccessEntry[];
  /** The authorizations of MiniStack's own IAM so far, in order: every call of its services. */
  readonly authorizations: () => readonly Authorization[];
  /** The function processes that are in an invocation now. */
  readonly busy: () => readonly BusyFunction[];
  /** Names of the functions whose process died in an invocation, one entry for each death. */
  readonly died: () => readonly string[];
  readonly stop: () => Promise<void>;
};

/** An action on a resource that MiniStack's IAM allowed or denied to a key. */
export type Authorization = { readonly accessKey: string; readonly action: string; readonly resource: string; readonly denied: boolean };

/** A busy function; `invocation` differs between the invocations of a process. */
export type BusyFunction = { readonly pid: number; readonly invocation: string; readonly name: string };

/** An EKS access entry of a deployed template: the user and groups of a role in a cluster. */
export type AccessEntry = {
  readonly clusterName: string;
  readonly principalArn: string;
  /** Null when EKS derives it: `arn:aws:sts::A:assumed-role/ROLE/SESSION`. */
  readonly username: string | null;
  readonly groups: readonly string[];
};

/** Creates the Python environment once, and returns the path of its `python`. */
export async function installMiniStack(): Promise<string> {
  const venv = cacheDir("ministack");
  const stamp = join(venv, "installed.txt");
  const wanted = packages.join("\n");
  if (!existsSync(stamp) || readFileSync(stamp, "utf8") !== wanted) {
    await run("python3", ["-m", "venv", venv]);
    await run(join(venv, "bin", "pip"), ["install", "-q", ...packages]);
    writeFileSync(stamp, wanted);
  }
  return join(venv, "bin", "python");
}

/**
 * Starts MiniStack on a free port of 127.0.0.1 (0.3 to 0.5 s). `env` is passed to every function unchanged, so that
 * `AWS_ENDPOINT_URL_EC2` and the like are not in the product's template. With `enforceIam` (the default) each function
 * has its role's own key and MiniStack denies what the role's policies do not allow.
 */
export async function startMiniStack(options: {
  readonly dataDir: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly region?: string;
  readonly accountId?: string;
  readonly enforceIam?: boolean;
  /** Factor by which `rate(…)` schedules fire faster: 12 makes `rate(1 minute)` fire every 5 s. */
  readonly timeScale?: number;
}): Promise<MiniStack> {
  const { dataDir, env = {}, region = "us-west-2", accountId = "111122223333", enforceIam = true, timeScale = 1 } = options;
  const python = await installMiniStack();
  const port = await freePort();
  const logFile = join(dataDir, "ministack.log");
  const entriesFile = join(dataDir, "access-entries.json");
  const iamLog = join(dataDir, "iam.jsonl");
  const tmp = join(dataDir, "ministack-tmp");
  mkdirSync(tmp, { recursive: true });
  const busyDir = join(dataDir, "busy");
  mkdirSync(busyDir, { recursive: true });
  // Functions are unpacked below this folder, where a package.json of a parent folder must not change how Node reads
  // .js files.
  writeFileSync(join(tmp, "package.json"), '{"type":"commonjs"}');
  const url = `http://127.0.0.1:${port}`;
  const child = await startChild({
    name: "MiniStack",
    command: python,
    args: [join(supportDir, "ministack", "main.py")],
    logFile,
    env: {
      PATH: `${nodeForWorkers(join(dataDir, "bin"))}:${process.env["PATH"] ?? ""}`,
      HOME: process.env["HOME"],
      TMPDIR: tmp,
      S3_DATA_DIR: join(tmp, "s3"),
      BIND_HOST: "127.0.0.1",
      GATEWAY_PORT: String(port),
      MINISTACK_HOST: "127.0.0.1",
      MINISTACK_REGION: region,
      MINISTACK_ACCOUNT_ID: accountId,
      PYTHONUNBUFFERED: "1",
      PYTHONDONTWRITEBYTECODE: "1",
      AUTH: String(enforceIam),
      HARNESS_ACCESS_ENTRIES: entriesFile,
      HARNESS_IAM_LOG: iamLog,
      HARNESS_BUSY_DIR: busyDir,
      HARNESS_TIME_SCALE: String(timeScale),
      ...env,
    },
    isReady: async () => (await fetch(`${url}/_ministack/health`)).ok,
  });
  return {
    url,
    region,
    accountId,
    pid: child.pid,
    // A key of twelve digits is the root of the account of that number.
    credentials: { accessKeyId: accountId, secretAccessKey: "test" },
    logs: () => readFileSync(logFile, "utf8"),
    accessEntries: () => (existsSync(entriesFile) ? (JSON.parse(readFileSync(entriesFile, "utf8")) as AccessEntry[]) : []),
    authorizations: () => wholeLines(iamLog).map((line) => JSON.parse(line) as Authorization),
    busy: () =>
      readdirSync(busyDir).flatMap((file) => {
        const [, pid, invocation = "", name = ""] = /^(\d+)\.(\d+)\.(.+)$/.exec(file) ?? [];
        return pid === undefined ? [] : [{ pid: Number(pid), invocation, name }];
      }),
    died: () => wholeLines(join(busyDir, "died")),
    stop: child.stop,
  };
}

/**
 * Creates a folder whose `node` is the project's Node with lambda-worker.cjs preloaded; MiniStack starts workers as
 * `node` from PATH.
 */
function nodeForWorkers(dir: string): string {
  mkdirSync(dir, { recursive: true });
  const node = join(projectRoot, "node_modules", ".bin", "node");
  const script = `#!/bin/sh\nexec '${existsSync(node) ? node : process.execPath}' --require '${join(supportDir, "lambda-worker.cjs")}' "$@"\n`;
  writeFileSync(join(dir, "node"), script, { mode: 0o755 });
  return dir;
}

/**
 * The credentials that a function sees when IAM is enforced: MiniStack derives them from the function and its role
 * (`execution_credentials` in its core/lambda_runtime.py), so that other stand-ins can identify the caller.
 */
export function functionCredentials(functionArn: string, roleArn: string): FunctionCredentials {
  const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");
  const digest = sha256(`${functionArn}:${roleArn}`);
  return {
    accessKeyId: `ASIA${digest.slice(0, 16).toUpperCase()}`,
    secretAccessKey: sha256(`secret:${digest}`),
    sessionToken: sha256(`token:${digest}`),
  };
}

export type FunctionCredentials = {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken: string;
};
