import { QUANTILE_WINDOW_MS, SKETCH } from "#core/insight/metrics/sums.ts";
import { metricOf } from "#core/ports/metric-registry.ts";
import type { KeptGauge, MetricSums, SumIncrement } from "#core/ports/metric-sums.ts";

/** MetricSums in memory; the sketch of each cluster is forgotten when a new window begins. */
export function memoryMetricSums(): MetricSums {
  const sums = new Map<string, Map<string, SumIncrement>>();
  const gauges = new Map<string, Map<string, KeptGauge & { readonly at: number }>>();
  const marks = new Map<string, number>();
  const windows = new Map<string, number>();
  const of = <T>(all: Map<string, Map<string, T>>, cluster: string): Map<string, T> => {
    const found = all.get(cluster) ?? new Map<string, T>();
    all.set(cluster, found);
    return found;
  };
  return {
    async add(cluster, changes, now) {
      const window = now - (now % QUANTILE_WINDOW_MS);
      const own = of(sums, cluster);
      if (windows.get(cluster) !== window) for (const [key, { part }] of own) if (part.startsWith(SKETCH)) own.delete(key);
      windows.set(cluster, window);
      for (const one of changes.increments) {
        const key = `${one.name}|${one.part}|${one.labels}`;
        own.set(key, { ...one, value: (own.get(key)?.value ?? 0) + one.value });
      }
      for (const one of changes.gauges) of(gauges, cluster).set(`${one.name}|${one.labels}`, { ...one, at: now });
    },
    read: async (cluster, now) => ({
      sums: [...of(sums, cluster).values()],
      gauges: [...of(gauges, cluster).values()]
        .filter(({ name, at }) => now - at <= (metricOf(name).staysMs ?? 86_400_000))
        .map(({ at: _at, ...gauge }) => gauge),
    }),
    async moveMark(cluster, to) {
      const former = marks.get(cluster);
      if (former !== undefined && former >= to) return undefined;
      marks.set(cluster, to);
      return former;
    },
  };
}
