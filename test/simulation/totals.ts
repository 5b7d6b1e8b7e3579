import type { Outcome } from "./play.ts";

/** What a series of runs has seen. */
export interface Total {
  runs: number;
  hours: number;
  violations: number;
  machines: number;
  readonly faults: Map<string, number>;
  readonly calls: Map<string, number>;
  /** The last line of the command: "runs 100, cluster-hours 91.2, kills 310, faults 1204, violations 0". */
  line(): string;
}

export function total(): Total {
  const faults = new Map<string, number>();
  const kills = (): number => [...faults].reduce((sum, [kind, n]) => sum + (kind.startsWith("kill") ? n : 0), 0);
  const all = (): number => [...faults.values()].reduce((sum, n) => sum + n, 0);
  return {
    runs: 0,
    hours: 0,
    violations: 0,
    machines: 0,
    faults,
    calls: new Map(),
    line() {
      return `runs ${this.runs}, cluster-hours ${this.hours.toFixed(1)}, kills ${kills()}, faults ${all() - kills()}, violations ${this.violations}`;
    },
  };
}

export function addUp(sum: Total, outcome: Outcome): void {
  sum.runs++;
  sum.hours += outcome.hours;
  sum.violations += outcome.violations.length > 0 ? 1 : 0;
  sum.machines += outcome.machines;
  for (const [kind, n] of outcome.faults) sum.faults.set(kind, (sum.faults.get(kind) ?? 0) + n);
  for (const [call, n] of outcome.calls) sum.calls.set(call, (sum.calls.get(call) ?? 0) + n);
}
