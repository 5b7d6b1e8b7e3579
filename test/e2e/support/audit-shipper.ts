import { closeSync, existsSync, openSync, readSync } from "node:fs";
import { StringDecoder } from "node:string_decoder";
import { setTimeout as sleep } from "node:timers/promises";
import { type AwsTarget, awsJson } from "./aws-call.ts";
import { eventually } from "./wait.ts";

/** Stands for EKS's control plane logging: copies the API server's audit events to CloudWatch Logs. */
export type AuditShipper = {
  /** The number of events sent so far. */
  readonly shipped: () => number;
  /** Sends the remaining events and ends. Throws when an earlier call failed. */
  readonly stop: () => Promise<void>;
};

/** Limits of PutLogEvents: 10,000 events and 1 MiB a call, with 26 bytes counted for each event. */
const maxEvents = 10_000;
const maxBytes = 1_000_000;

/**
 * Follows the audit log and sends its events to `/aws/eks/NAME/cluster`, at most every `everyMs`, as EKS does but
 * within milliseconds instead of minutes. `drop` gets each line and decides whether the event is lost, because EKS may
 * lose events.
 */
export async function startAuditShipper(options: {
  readonly target: AwsTarget;
  readonly auditLog: string;
  readonly clusterName: string;
  readonly everyMs?: number;
  readonly drop?: (line: string) => boolean;
}): Promise<AuditShipper> {
  const { target, auditLog, clusterName, everyMs = 150, drop = () => false } = options;
  const logGroupName = `/aws/eks/${clusterName}/cluster`;
  const logStreamName = "kube-apiserver-audit-0123456789abcdef0123456789abcdef";
  await ignoringExisting(awsJson(target, "logs", "Logs_20140328.CreateLogGroup", { logGroupName }));
  await ignoringExisting(awsJson(target, "logs", "Logs_20140328.CreateLogStream", { logGroupName, logStreamName }));
  let stopping = false;
  let shipped = 0;
  const lines = followLines(auditLog);

  const ship = async (): Promise<void> => {
    for (const batch of batches(lines.read().filter((line) => !drop(line)))) {
      const logEvents = batch.map((message) => ({ timestamp: Date.now(), message }));
      // Events are read only once, so a failed call is repeated.
      await eventually("audit events are put", async () => {
        await awsJson(target, "logs", "Logs_20140328.PutLogEvents", { logGroupName, logStreamName, logEvents });
        return true;
      });
      shipped += batch.length;
    }
  };
  const running = (async () => {
    while (!stopping) {
      await ship();
      await sleep(everyMs);
    }
    await ship();
  })();
  running.catch(() => {}); // stop() reports it
  return {
    shipped: () => shipped,
    stop: async () => {
      stopping = true;
      await running;
      lines.close();
    },
  };
}

/** Reads a growing file; each read returns the new complete lines. */
function followLines(path: string): { readonly read: () => string[]; readonly close: () => void } {
  let file: number | undefined;
  let rest = "";
  const decoder = new StringDecoder("utf8");
  const chunk = Buffer.alloc(1 << 20);
  return {
    read: () => {
      file ??= existsSync(path) ? openSync(path, "r") : undefined;
      if (file === undefined) {
        return [];
      }
      for (let size = readSync(file, chunk); size > 0; size = readSync(file, chunk)) {
        rest += decoder.write(chunk.subarray(0, size));
      }
      const lines = rest.split("\n");
      rest = lines.pop() ?? "";
      return lines.filter((line) => line !== "");
    },
    close: () => {
      if (file !== undefined) {
        closeSync(file);
      }
    },
  };
}

function batches(lines: readonly string[]): string[][] {
  const all: string[][] = [];
  let bytes = Number.POSITIVE_INFINITY;
  for (const line of lines) {
    const size = Buffer.byteLength(line) + 26;
    const current = all.at(-1);
    if (current === undefined || bytes + size > maxBytes || current.length === maxEvents) {
      all.push([line]);
      bytes = size;
    } else {
      current.push(line);
      bytes += size;
    }
  }
  return all;
}

async function ignoringExisting(call: Promise<unknown>): Promise<void> {
  try {
    await call;
  } catch (error) {
    if (!String(error).includes("ResourceAlreadyExistsException")) {
      throw error;
    }
  }
}
