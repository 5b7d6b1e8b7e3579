/** Karpenter's metric names and labels, without the `karpenter_` prefix (metrics-events.md §1). */
export interface Metrics {
  count(name: string, labels: Readonly<Record<string, string>>, value?: number): void;
  gauge(name: string, labels: Readonly<Record<string, string>>, value: number): void;
  /** Seconds, unless the name says otherwise. */
  observe(name: string, labels: Readonly<Record<string, string>>, value: number): void;
}
