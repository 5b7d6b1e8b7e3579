/**
 * The type and the labels of a metric, as Karpenter declares them. The adapter adds the label `cluster`.
 *
 * - `counter`: what happened since the last value; values are added up.
 * - `gauge`: how things stand.
 * - `histogram`: each value is one observation; Karpenter has a summary for some.
 */
interface Metric {
  readonly type: "counter" | "gauge" | "histogram";
  readonly labels: readonly string[];
  /** Whether Karpenter has no metric of this name. */
  readonly isOurs?: true;
  /** Whether a person on call needs it: CloudWatch makes a metric of it where no more is asked for. */
  readonly isEssential?: true;
  /** Upper bounds of a histogram's buckets, as Karpenter has them; DURATION_BUCKETS when absent. */
  readonly buckets?: readonly number[];
  /**
   * How long a gauge is given to scrapers after it was set, ms; a day when absent. A gauge that nothing sets to 0 once
   * its reason is gone needs one, of a few of the periods in which it is set while the reason lasts.
   */
  readonly staysMs?: number;
  /** Whether Karpenter has a summary of this name, with quantiles, in place of a histogram. */
  readonly isSummary?: true;
  /**
   * Whether the name is one of a library of Karpenter's: it has no prefix `karpenter_`, and is only served to scrapers,
   * because each invocation would be a line of the log.
   */
  readonly isOfLibrary?: true;
  /** Whether it is only served to scrapers, because each call of EC2 would be a line of the log. */
  readonly isScrapedOnly?: true;
}

/** (karpenter: pkg/metrics/constants.go, DurationBuckets) */
export const DURATION_BUCKETS: readonly number[] = [
  ...[0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6, 0.7, 0.8, 0.9, 1],
  ...[1.25, 1.5, 1.75, 2, 2.5, 3, 3.5, 4, 4.5, 5, 6, 7, 8, 9, 10, 15, 20, 25, 30, 40, 50, 60, 120, 150, 300, 450, 600],
];

/** 1, 2, 4 and so on, so many of them. */
const doubling = (count: number): readonly number[] => Array.from({ length: count }, (_, i) => 2 ** i);
const HOUR = 3_600;
/** Each sweep sets these gauges while they are not 0, so five sweeps without a value say that they are. */
const FIVE_SWEEPS_MS = 300_000;
const DAY = 24 * HOUR;

/** (karpenter: pkg/controllers/node/termination/metrics.go, NodeLifetimeDurationSeconds) */
const LIFETIME_BUCKETS: readonly number[] = [
  ...[0.25, 0.5, 0.75, 1, 2, 4, 6, 8, 10, 12, 16, 20].map((hours) => hours * HOUR),
  ...[1, 2, 3, 5, 10, 15, 20, 25, 30].map((days) => days * DAY),
];

const DECISION = ["decision", "reason", "consolidation_type"] as const;

/**
 * Every metric that is emitted, by its name without `karpenter_`. The port takes no other name (metrics.ts), and
 * docs/metrics-and-events.md says when each is emitted, and why Karpenter's other metrics are not.
 */
export const METRICS = {
  nodeclaims_created_total: { type: "counter", labels: ["reason", "nodepool", "min_values_relaxed"], isEssential: true },
  nodeclaims_disrupted_total: { type: "counter", labels: ["reason", "nodepool", "capacity_type"], isEssential: true },
  nodeclaims_terminated_total: { type: "counter", labels: ["nodepool", "capacity_type", "zone"], isEssential: true },
  nodeclaims_termination_duration_seconds: { type: "histogram", labels: ["nodepool"], buckets: doubling(12) },
  nodeclaims_instance_termination_duration_seconds: { type: "histogram", labels: ["nodepool"], buckets: doubling(11) },
  nodes_reboots_total: { type: "counter", labels: ["result"] },
  nodes_reboot_duration_seconds: { type: "histogram", labels: ["result"] },
  nodes_reboot_recovery_duration_seconds: { type: "histogram", labels: [] },
  nodeclaims_unhealthy_disrupted_total: {
    type: "counter",
    labels: ["condition", "nodepool", "capacity_type", "image_id", "termination_mode"],
  },
  nodes_created_total: { type: "counter", labels: ["nodepool", "zone"] },
  nodes_drained_total: { type: "counter", labels: ["nodepool"] },
  nodes_terminated_total: { type: "counter", labels: ["nodepool", "zone"] },
  nodes_termination_duration_seconds: { type: "histogram", labels: ["nodepool"], isSummary: true },
  nodes_lifetime_duration_seconds: { type: "histogram", labels: ["nodepool"], buckets: LIFETIME_BUCKETS },
  pods_eviction_requests_total: { type: "counter", labels: ["code"] },
  pods_drained_total: { type: "counter", labels: ["reason"] },
  pods_disruption_initiated_total: {
    type: "counter",
    labels: ["reason", "nodepool", "capacity_type", "consolidation_policy", "termination_mode"],
  },
  scheduler_unschedulable_pods_count: { type: "gauge", labels: ["controller"], isEssential: true, staysMs: FIVE_SWEEPS_MS },
  scheduler_ignored_pods_count: { type: "gauge", labels: [], staysMs: FIVE_SWEEPS_MS },
  scheduler_pending_pods_by_effective_zone_count: { type: "gauge", labels: ["controller", "zone"], staysMs: FIVE_SWEEPS_MS },
  circuit_breaker_open: { type: "gauge", labels: ["scope", "reason"], isOurs: true, staysMs: FIVE_SWEEPS_MS },
  cluster_paused: { type: "gauge", labels: ["scope"], isOurs: true, staysMs: FIVE_SWEEPS_MS },
  cluster_state_unreadable_objects: { type: "gauge", labels: ["kind"], isOurs: true, isEssential: true, staysMs: FIVE_SWEEPS_MS },
  scheduler_scheduling_duration_seconds: { type: "histogram", labels: ["controller"] },
  voluntary_disruption_terminate_first_decisions_total: { type: "counter", labels: ["nodepool", "reason", "terminate_first_reason"] },
  voluntary_disruption_decisions_total: { type: "counter", labels: DECISION },
  voluntary_disruption_decisions_by_nodepool_total: { type: "counter", labels: [...DECISION, "nodepool"] },
  voluntary_disruption_decision_evaluation_duration_seconds: { type: "histogram", labels: [] },
  voluntary_disruption_eligible_nodes: { type: "gauge", labels: ["reason"] },
  voluntary_disruption_blocked_nodes: { type: "gauge", labels: ["reason"], isOurs: true },
  voluntary_disruption_failed_validations_total: { type: "counter", labels: ["consolidation_type"] },
  voluntary_disruption_queue_failures_total: { type: "counter", labels: DECISION },
  voluntary_disruption_consolidation_timeouts_total: { type: "counter", labels: ["consolidation_type"] },
  consolidation_moves_total: { type: "counter", labels: ["decision", "nodepool", "policy"] },
  consolidation_score: { type: "histogram", labels: ["decision", "nodepool", "policy"], buckets: [0.1, 0.25, 0.33, 0.5, 1, 2, 5, 10] },
  nodepools_allowed_disruptions: { type: "gauge", labels: ["nodepool", "reason"] },
  nodepools_nodes_consuming_budgets: { type: "gauge", labels: ["nodepool", "reason"] },
  cloudprovider_instance_launch_failures_total: {
    type: "counter",
    labels: ["zone", "zone_id", "capacity_type", "reason"],
    isEssential: true,
  },
  cloudprovider_instance_termination_failures_total: { type: "counter", labels: ["zone", "zone_id"] },
  cloudprovider_duration_seconds: { type: "histogram", labels: ["controller", "method", "provider"], isScrapedOnly: true },
  cloudprovider_errors_total: { type: "counter", labels: ["controller", "method", "provider", "error"] },
  cloudprovider_request_wait_seconds: { type: "histogram", labels: ["action"], isOurs: true, isScrapedOnly: true },
  ec2nodeclasses_userdata_bytes: { type: "gauge", labels: ["nodeclass"] },
  interruption_received_messages_total: { type: "counter", labels: ["message_type"], isEssential: true },
  interruption_deleted_messages_total: { type: "counter", labels: [] },
  interruption_message_queue_duration_seconds: { type: "histogram", labels: [], isEssential: true },
  interruption_instance_status_unhealthy_total: { type: "counter", labels: ["category"] },
  pods_startup_duration_seconds: { type: "histogram", labels: [], isSummary: true },
  pods_bound_duration_seconds: { type: "histogram", labels: [] },
  pods_provisioning_startup_duration_seconds: { type: "histogram", labels: [] },
  pods_provisioning_bound_duration_seconds: { type: "histogram", labels: [] },
  controller_runtime_reconcile_total: { type: "counter", labels: ["controller", "result"], isOfLibrary: true },
  controller_runtime_reconcile_time_seconds: { type: "histogram", labels: ["controller"], isOfLibrary: true },
} as const satisfies Readonly<Record<string, Metric>>;

/** Whether this version has a metric of the name. */
export const isMetricName = (name: string): name is MetricName => Object.hasOwn(METRICS, name);

/** What the registry says about a metric. */
export const metricOf = (name: MetricName): Metric => METRICS[name];

export type MetricName<T extends Metric["type"] = Metric["type"]> = {
  [N in keyof typeof METRICS]: (typeof METRICS)[N]["type"] extends T ? N : never;
}[keyof typeof METRICS];
