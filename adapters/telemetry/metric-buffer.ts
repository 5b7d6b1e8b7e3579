import { labelText } from "#core/insight/metrics/labels.ts";
import { addUp, type Counted } from "#core/insight/metrics/sums.ts";
import type { Log } from "#core/ports/log.ts";
import type { KeptGauge, MetricSums } from "#core/ports/metric-sums.ts";
import type { Metrics } from "#core/ports/metrics.ts";

interface Pending {
  readonly counted: Counted[];
  readonly gauges: Map<string, KeptGauge>;
}

/** Keeps what an invocation counts until it is added to the sums of all functions. */
interface MetricBuffer {
  /** The same metrics, with each value kept, too; `cluster` is "" for values that belong to no single one. */
  readonly keeping: (cluster: string, metrics: Metrics) => Metrics;
  /** Adds what was kept to the sums. Never rejects: metrics must not fail the work, and the log has each value. */
  readonly flush: () => Promise<void>;
}

export function metricBuffer(
  sums: Pick<MetricSums, "add">,
  { log, now }: { readonly log: Pick<Log, "error">; readonly now: () => number },
): MetricBuffer {
  let pending = new Map<string, Pending>();
  const of = (cluster: string): Pending => {
    const found = pending.get(cluster) ?? { counted: [], gauges: new Map<string, KeptGauge>() };
    pending.set(cluster, found);
    return found;
  };
  return {
    keeping: (cluster, metrics) => ({
      count(name, labels, value = 1) {
        of(cluster).counted.push({ name, labels, value });
        metrics.count(name, labels, value);
      },
      observe(name, labels, value) {
        of(cluster).counted.push({ name, labels, value });
        metrics.observe(name, labels, value);
      },
      gauge(name, labels, value) {
        const text = labelText(labels);
        if (Number.isFinite(value)) of(cluster).gauges.set(`${name}|${text}`, { name, labels: text, value });
        metrics.gauge(name, labels, value);
      },
    }),
    async flush() {
      const kept = [...pending];
      pending = new Map();
      const results = await Promise.allSettled(
        kept.map(([cluster, { counted, gauges }]) =>
          sums.add(cluster, { increments: addUp(counted), gauges: [...gauges.values()] }, now()),
        ),
      );
      const failed = results.find((result) => result.status === "rejected");
      if (failed !== undefined) log.error("could not add up metrics for scrapers; the log has their values", { error: failed.reason });
    },
  };
}
