import { expect, it } from "vitest";
import { parseProcess } from "./processes.ts";

it("the CPU time and the memory of a process are read although its name has spaces and parentheses", () => {
  const stat = "42 (a (b) c) S 7 42 42 0 -1 4194304 900 0 0 0 150 50 30 20 20 0 1 0 100 1000 200";
  expect(parseProcess(42, stat, "Name:\tx\nVmHWM:\t  2048 kB\nThreads: 1", "node\0main.ts\0")).toEqual({
    ...{ pid: 42, parent: 7, command: "node main.ts", cpuSeconds: 2, endedChildrenCpuSeconds: 0.5, peakMb: 2 },
  });
});
