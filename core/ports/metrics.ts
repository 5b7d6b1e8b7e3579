import type { MetricName } from "./metric-registry.ts";

/** Metric names and labels are Karpenter's, without the `karpenter_` prefix: metric-registry.ts has all of them. */
export interface Metrics {
  count(name: MetricName<"counter">, labels: Readonly<Record<string, string>>, value?: number): void;
  gauge(name: MetricName<"gauge">, labels: Readonly<Record<string, string>>, value: number): void;
  /** Seconds, unless the name says otherwise. */
  observe(name: MetricName<"histogram">, labels: Readonly<Record<string, string>>, value: number): void;
}
