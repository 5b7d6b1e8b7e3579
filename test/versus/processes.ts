import { readdirSync, readFileSync } from "node:fs";

// CPU time and memory of child processes, from Linux's /proc.

const TICKS_PER_SECOND = 100;

export interface Process {
  readonly pid: number;
  readonly parent: number;
  readonly command: string;
  /** Its own, user and system. */
  readonly cpuSeconds: number;
  /** Of its children that have ended. */
  readonly endedChildrenCpuSeconds: number;
  readonly peakMb: number;
}

/** A process and its descendants that run now. */
export function processesBelow(root: number): readonly Process[] {
  const all = readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => readProcess(Number(name)) ?? []);
  const found = new Set([root]);
  for (let before = 0; before < found.size; ) {
    before = found.size;
    for (const { pid, parent } of all) if (found.has(parent)) found.add(pid);
  }
  return all.filter(({ pid }) => found.has(pid));
}

/** Undefined when the process has ended. */
function readProcess(pid: number): Process | undefined {
  try {
    const read = (file: string): string => readFileSync(`/proc/${pid}/${file}`, "utf8");
    return parseProcess(pid, read("stat"), read("status"), read("cmdline"));
  } catch {
    return undefined;
  }
}

/** Fields of proc(5): the second one of `stat`, the command's name, may contain spaces and parentheses. */
export function parseProcess(pid: number, stat: string, status: string, cmdline: string): Process {
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const seconds = (...indexes: readonly number[]): number =>
    indexes.reduce((sum, index) => sum + Number(fields[index] ?? 0), 0) / TICKS_PER_SECOND;
  return {
    pid,
    parent: Number(fields[1]),
    command: cmdline.split("\0").join(" ").trim(),
    cpuSeconds: seconds(11, 12),
    endedChildrenCpuSeconds: seconds(13, 14),
    peakMb: Number(/^VmHWM:\s+(\d+) kB/m.exec(status)?.[1] ?? 0) / 1024,
  };
}
