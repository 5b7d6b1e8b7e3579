import { DURATION_BUCKETS, type MetricName, metricOf } from "../../ports/metric-registry.ts";
import type { SumIncrement } from "../../ports/metric-sums.ts";
import { labelText } from "./labels.ts";

/**
 * Parts of a metric that is added up. A counter has "total"; a histogram has "count", "sum" and a part for each bucket
 * that an observation fell into ("le 0.5"; "le +Inf" above the last bound), which are not cumulative; a summary has
 * "count", "sum" and sketch parts ("q 12") of the last minutes.
 */
const TOTAL = "total";
export const COUNT = "count";
export const SUM = "sum";
export const BUCKET = "le ";
export const SKETCH = "q ";

/** Neighbouring sketch parts differ by this factor, so a quantile is right to 2.5 %. */
const SKETCH_STEP = 1.05;
/** Below this all observations are one, in the metric's unit. */
const SKETCH_LEAST = 1e-3;

/** How long the quantiles of a summary look back, ms (karpenter's client library: 10 minutes). */
export const QUANTILE_WINDOW_MS = 600_000;

/** A counted or observed value. */
export interface Counted {
  readonly name: MetricName;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

const sketchIndex = (value: number): number =>
  value <= SKETCH_LEAST ? 0 : Math.ceil(Math.log(value / SKETCH_LEAST) / Math.log(SKETCH_STEP));
/** The middle of the values of a sketch part. */
const sketchValue = (index: number): number => (index === 0 ? 0 : (SKETCH_LEAST * SKETCH_STEP ** index * 2) / (1 + SKETCH_STEP));

function partsOf(name: MetricName, value: number): readonly (readonly [part: string, by: number])[] {
  const { type, isSummary = false, buckets = DURATION_BUCKETS } = metricOf(name);
  if (type === "counter") return [[TOTAL, value]];
  const own = [
    [COUNT, 1],
    [SUM, value],
  ] as const;
  if (isSummary) return [...own, [`${SKETCH}${sketchIndex(value)}`, 1]];
  return [...own, [`${BUCKET}${buckets.find((bound) => value <= bound) ?? "+Inf"}`, 1]];
}

/** The increments of some values, equal parts added up. Values that are no finite number are left out. */
export function addUp(values: readonly Counted[]): readonly SumIncrement[] {
  const sums = new Map<string, SumIncrement>();
  for (const { name, labels, value } of values) {
    if (!Number.isFinite(value)) continue;
    const text = labelText(labels);
    for (const [part, by] of partsOf(name, value)) {
      const key = `${name}|${part}|${text}`;
      sums.set(key, { name, part, labels: text, value: (sums.get(key)?.value ?? 0) + by });
    }
  }
  return [...sums.values()];
}

/** The quantiles that Karpenter's summaries have (karpenter: pkg/metrics/constants.go, SummaryObjectives). */
const QUANTILES = [0, 0.5, 0.9, 0.99, 1] as const;

/**
 * The quantiles of a summary from its sketch parts, by part; NaN without an observation, as Prometheus' own library has
 * it.
 */
export function quantilesOf(sketch: ReadonlyMap<string, number>): readonly (readonly [quantile: number, value: number])[] {
  const parts = [...sketch].map(([part, count]) => [Number(part.slice(SKETCH.length)), count] as const).sort(([a], [b]) => a - b);
  const all = parts.reduce((sum, [, count]) => sum + count, 0);
  return QUANTILES.map((quantile) => {
    let left = Math.max(1, Math.ceil(quantile * all));
    const found = parts.find(([, count]) => {
      left -= count;
      return left <= 0;
    });
    return [quantile, found === undefined ? Number.NaN : sketchValue(found[0])];
  });
}
