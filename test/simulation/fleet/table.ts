import type { ClusterOutcome, FleetOutcome } from "./play.ts";

/** The share q of the values that are not above it: the value of that rank. */
function quantile(values: readonly number[], q: number): number | undefined {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(q * sorted.length) - 1)];
}

const inSeconds = (ms: number | undefined): string => (ms === undefined ? "-" : `${(ms / 1_000).toFixed(1)} s`);

function summary(clusters: readonly ClusterOutcome[]): readonly string[] {
  const waits = clusters.flatMap((one) => one.waits);
  const sum = (of: (one: ClusterOutcome) => number): string => String(clusters.reduce((total, one) => total + of(one), 0));
  return [
    ...[String(clusters.length), String(waits.length), inSeconds(quantile(waits, 0.5)), inSeconds(quantile(waits, 0.99))],
    inSeconds(quantile(waits, 1)),
    ...[sum(({ lostPods }) => lostPods), sum(({ lostDecisions }) => lostDecisions), sum(({ deadLetters }) => deadLetters)],
    sum(({ violations }) => violations.length),
  ];
}

function columns(rows: readonly (readonly string[])[]): readonly string[] {
  const widths = (rows[0] ?? []).map((_, i) => Math.max(...rows.map((row) => (row[i] ?? "").length)));
  return rows.map((row) => row.map((cell, i) => (i === 0 ? cell.padEnd(widths[i] ?? 0) : cell.padStart(widths[i] ?? 0))).join("  "));
}

/** Error lines that are printed of a kind of cluster. */
const MAX_ERRORS = 4;
const MAX_ERROR = 160;

/** The table of a run, for people. */
export function renderFleet(among: FleetOutcome, alone: readonly ClusterOutcome[]): readonly string[] {
  const kinds = ["small", "large", "hostile", "dead"] as const;
  const rows = kinds.flatMap((kind) => {
    const played = among.clusters.filter(({ spec }) => spec.kind === kind);
    const single = alone.filter(({ spec }) => spec.kind === kind);
    const same = new Set(single.map(({ spec }) => spec.name));
    return [
      ...(single.length > 0 ? [[`${kind}, each alone`, ...summary(single)]] : []),
      ...(single.length > 0 ? [["  the same among all", ...summary(played.filter(({ spec }) => same.has(spec.name)))]] : []),
      ...(played.length > 0 ? [["  all among all", ...summary(played)]] : []),
    ];
  });
  const functions = [...among.functions].map(([fn, sum]) => [
    fn,
    ...[
      sum.invocations,
      sum.coldStarts,
      sum.peak,
      sum.timeouts,
      sum.throttles,
      Math.round(sum.billedMs / 1_000),
      Math.round(sum.cpuMs / 1_000),
    ].map(String),
  ]);
  const errors = kinds.flatMap((kind) => {
    const counts = new Map<string, number>();
    for (const { spec, errors: own } of among.clusters)
      if (spec.kind === kind) for (const [text, n] of own) counts.set(text, (counts.get(text) ?? 0) + n);
    const most = [...counts].sort(([, a], [, b]) => b - a).slice(0, MAX_ERRORS);
    return most.map(([text, n]) => `${kind}: ${n} × ${text.slice(0, MAX_ERROR)}`);
  });
  const violations = among.clusters.flatMap(({ spec, violations: own }) =>
    own.map((one) => `${spec.name}: ${one.invariant}: ${one.detail}`),
  );
  return [
    ...columns([["clusters", "", "pods", "p50", "p99", "max", "lost pods", "lost decisions", "dead letters", "violations"], ...rows]),
    "",
    ...columns([["function", "runs", "cold", "at once", "timeouts", "throttled", "billed s", "CPU s"], ...functions]),
    "",
    `${among.peak} invocations at once at most; ${among.ec2Throttles} calls throttled by EC2; ${among.minutes} virtual minutes`,
    ...(errors.length > 0 ? ["", ...errors] : []),
    ...(violations.length > 0 ? ["", ...violations.slice(0, 20)] : []),
  ];
}
