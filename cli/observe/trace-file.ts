import { closeSync, existsSync, openSync, readFileSync, renameSync, writeSync } from "node:fs";
import { constants, gunzipSync, gzipSync } from "node:zlib";
import { readableEntry } from "#core/insight/observed/readable.ts";
import type { Trace, TraceEntry, TraceHeader } from "#core/insight/observed/trace.ts";
import { InputError } from "#terminal/input-error.ts";

/** Looks that share a gzip member: one alone compresses half as well. */
const ENTRIES_OF_A_MEMBER = 20;

/**
 * A trace as a file of JSON lines, compressed member by member, so that a recording that is killed loses no more than
 * the looks of its last member. Only its owner may read it.
 */
export class TraceFile {
  readonly #fd: number;
  #waiting: TraceEntry[] = [];
  #bytes = 0;

  /** Writes the file with what was recorded before. Throws InputError when it cannot be written. */
  constructor(path: string, { header, entries }: Trace) {
    try {
      const part = `${path}.part`;
      this.#fd = openSync(part, "w", 0o600);
      this.#write([header, ...entries]);
      renameSync(part, path);
    } catch (error) {
      throw new InputError(`cannot write ${path}: ${error instanceof Error ? error.message : String(error)}`);
    }
  }

  /** Size of the file. */
  get bytes(): number {
    return this.#bytes;
  }

  add(entry: TraceEntry): void {
    this.#waiting.push(entry);
    if (this.#waiting.length >= ENTRIES_OF_A_MEMBER) this.flush();
  }

  flush(): void {
    if (this.#waiting.length === 0) return;
    this.#write(this.#waiting);
    this.#waiting = [];
  }

  close(): void {
    this.flush();
    closeSync(this.#fd);
  }

  #write(lines: readonly object[]): void {
    const member = gzipSync(lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
    writeSync(this.#fd, member);
    this.#bytes += member.length;
  }
}

/** A trace as a file holds it. */
interface ReadTrace extends Trace {
  /** Objects that cannot be read, and why; each once. */
  readonly leftOut: readonly string[];
}

/** Reads a trace, also one whose recording was killed. Throws InputError. */
export function readTrace(path: string): ReadTrace {
  if (!existsSync(path)) throw new InputError(`there is no trace ${path}; record one with karpenter-serverless observe --record ${path}`);
  const [first, ...lines] = completeLines(path);
  const header = first as Partial<TraceHeader> | undefined;
  if (header?.trace === undefined || lines.length === 0)
    throw new InputError(`${path} is no trace, or holds no look; record one with karpenter-serverless observe --record FILE`);
  if (header.trace !== 1)
    throw new InputError(`${path} has format ${String(header.trace)}, which a later version wrote; replay it with that version`);
  if (typeof header.region !== "string" || typeof header.cluster !== "string" || !Number.isFinite(header.everyMs))
    throw new InputError(`${path}: its first line names no cluster, region and everyMs; record the trace again`);
  const read = lines.map((line, i) => {
    try {
      return readableEntry(line);
    } catch (error) {
      throw new InputError(`${path}, line ${i + 2}: ${error instanceof Error ? error.message : String(error)}`);
    }
  });
  const leftOut = [...new Set(read.flatMap((one) => one.leftOut))];
  const { autoscaler = "no autoscaler", unread = [] } = header;
  return { header: { ...(header as TraceHeader), autoscaler, unread }, entries: read.map(({ entry }) => entry), leftOut };
}

/** The lines of the file, without one at the end that was cut off. */
function completeLines(path: string): readonly unknown[] {
  const bytes = readFileSync(path);
  const isCompressed = bytes[0] === 0x1f && bytes[1] === 0x8b;
  try {
    const text = (isCompressed ? gunzipSync(bytes, { finishFlush: constants.Z_SYNC_FLUSH }) : bytes).toString();
    const lines = text.split("\n");
    // What follows the last line feed was not written to its end.
    return lines.slice(0, -1).map((line) => JSON.parse(line) as unknown);
  } catch (error) {
    throw new InputError(`${path} is no trace: ${error instanceof Error ? error.message : String(error)}`);
  }
}
