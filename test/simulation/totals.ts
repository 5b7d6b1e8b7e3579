import type { RunResult } from "./play.ts";

/** The sums of a series of runs. */
export interface Total {
  runs: number;
  hours: number;
  violations: number;
  machines: number;
  preempted: number;
  readonly faults: Map<string, number>;
  readonly elements: Map<string, number>;
  readonly calls: Map<string, number>;
  /** The longest chains of messages, by function. */
  readonly chains: Map<string, number>;
  readonly stopped: Map<string, number>;
}

const READS = /^store\.(get|list|commands|unavailable|byInstance|documentVersion|getDocument)/;

export function total(): Total {
  const counts = { faults: new Map(), elements: new Map(), calls: new Map(), chains: new Map(), stopped: new Map() };
  return { runs: 0, hours: 0, violations: 0, machines: 0, preempted: 0, ...counts };
}

/** The report of all runs: faults by kind, calls per machine with its share of the sweeps, and the sums last. */
export function report(sums: Total): readonly string[] {
  const { runs, hours, violations, machines, preempted, faults, elements, calls, chains, stopped } = sums;
  const sumOf = (counts: ReadonlyMap<string, number>, which: (name: string) => boolean): number =>
    [...counts].reduce((sum, [name, n]) => (which(name) ? sum + n : sum), 0);
  const perMachine = (which: (name: string) => boolean): string => (sumOf(calls, which) / Math.max(machines, 1)).toFixed(0);
  const listed = (counts: ReadonlyMap<string, number>): string =>
    [...counts]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([kind, n]) => `${kind} ${n}`)
      .join(", ") || "none";
  const kills = sumOf(faults, (kind) => kind.startsWith("kill"));
  const isWrite = (call: string): boolean => call.startsWith("store.") && !READS.test(call);
  return [
    `by kind: ${listed(faults)}`,
    `of what only some stacks have: ${listed(elements)}`,
    `machines ${machines}; for each, sweeps included: ${perMachine((c) => READS.test(c))} reads of the table, ${perMachine(isWrite)} writes, ${perMachine((c) => c.startsWith("fleet."))} calls of EC2`,
    `pods preempted ${preempted}`,
    `longest chains: ${listed(chains)}; stopped by Lambda: ${listed(stopped)}`,
    `runs ${runs}, cluster-hours ${hours.toFixed(1)}, kills ${kills}, faults ${sumOf(faults, () => true) - kills}, violations ${violations}`,
  ];
}

export function addUp(sum: Total, outcome: RunResult): void {
  sum.runs++;
  sum.hours += outcome.hours;
  sum.violations += outcome.violations.length > 0 ? 1 : 0;
  sum.machines += outcome.machines;
  sum.preempted += outcome.preempted;
  for (const name of ["faults", "elements", "calls", "stopped"] as const)
    for (const [kind, n] of outcome[name]) sum[name].set(kind, (sum[name].get(kind) ?? 0) + n);
  for (const [fn, n] of outcome.chains) sum.chains.set(fn, Math.max(sum.chains.get(fn) ?? 0, n));
}
