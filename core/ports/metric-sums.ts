import type { MetricName } from "./metric-registry.ts";

/** A part of a metric that is added up: a counter's total, a histogram's count, sum or one of its buckets. */
export interface SumIncrement {
  readonly name: MetricName;
  /** What of the metric it is (core/insight/metrics/sums.ts). */
  readonly part: string;
  /** Labels as the exposition writes them, in order of their names: `nodepool="default",zone="eu-west-1a"`. */
  readonly labels: string;
  readonly value: number;
}

/** The last value of a gauge that a decision has set. */
export interface KeptGauge {
  readonly name: MetricName<"gauge">;
  readonly labels: string;
  readonly value: number;
}

/**
 * Counters and histograms of all functions together, and the last values of gauges, for each cluster: functions forget,
 * and a scraper expects totals that only grow. What belongs to no single cluster is kept under the cluster "".
 */
export interface MetricSums {
  /**
   * Adds the increments and replaces the gauges. A function that is killed before loses what it has counted since the
   * last call; its log has it.
   */
  add(
    cluster: string,
    changes: { readonly increments: readonly SumIncrement[]; readonly gauges: readonly KeptGauge[] },
    now: number,
  ): Promise<void>;
  /** All sums, and the gauges that were set in the last day, or within the time that the registry names (staysMs). */
  read(cluster: string, now: number): Promise<{ readonly sums: readonly SumIncrement[]; readonly gauges: readonly KeptGauge[] }>;
  /**
   * Moves the mark up to which the durations of a cluster's pods have been observed to `to`. Returns the former mark,
   * or undefined when there is none yet or another caller has moved it to `to` or beyond: only one of several scrapers
   * observes each pod.
   */
  moveMark(cluster: string, to: number): Promise<number | undefined>;
}
