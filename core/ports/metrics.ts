/**
 * Metric names and labels are Karpenter's, without the `karpenter_` prefix. `docs/metrics-and-events.md` lists them.
 */
export interface Metrics {
  count(name: string, labels: Readonly<Record<string, string>>, value?: number): void;
  gauge(name: string, labels: Readonly<Record<string, string>>, value: number): void;
  /** Seconds, unless the name says otherwise. */
  observe(name: string, labels: Readonly<Record<string, string>>, value: number): void;
}
