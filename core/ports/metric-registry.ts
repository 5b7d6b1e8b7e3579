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
}

const DECISION = ["decision", "reason", "consolidation_type"] as const;

/**
 * Every metric that is emitted, by its name without `karpenter_`. The port takes no other name (metrics.ts), and
 * docs/metrics-and-events.md says when each is emitted, and why Karpenter's other metrics are not.
 */
export const METRICS = {
  nodeclaims_created_total: { type: "counter", labels: ["reason", "nodepool", "min_values_relaxed"], isEssential: true },
  nodeclaims_disrupted_total: { type: "counter", labels: ["reason", "nodepool", "capacity_type"], isEssential: true },
  nodeclaims_terminated_total: { type: "counter", labels: ["nodepool", "capacity_type", "zone"], isEssential: true },
  nodeclaims_termination_duration_seconds: { type: "histogram", labels: ["nodepool"] },
  nodeclaims_instance_termination_duration_seconds: { type: "histogram", labels: ["nodepool"] },
  nodeclaims_unhealthy_disrupted_total: { type: "counter", labels: ["condition", "nodepool", "capacity_type", "image_id"] },
  nodes_created_total: { type: "counter", labels: ["nodepool", "zone"] },
  nodes_drained_total: { type: "counter", labels: ["nodepool"] },
  nodes_terminated_total: { type: "counter", labels: ["nodepool", "zone"] },
  nodes_termination_duration_seconds: { type: "histogram", labels: ["nodepool"] },
  nodes_lifetime_duration_seconds: { type: "histogram", labels: ["nodepool"] },
  pods_eviction_requests_total: { type: "counter", labels: ["code"] },
  pods_drained_total: { type: "counter", labels: ["reason"] },
  scheduler_unschedulable_pods_count: { type: "gauge", labels: ["controller"], isEssential: true },
  cluster_state_unreadable_objects: { type: "gauge", labels: ["kind"], isOurs: true, isEssential: true },
  scheduler_scheduling_duration_seconds: { type: "histogram", labels: ["controller"] },
  voluntary_disruption_decisions_total: { type: "counter", labels: DECISION },
  voluntary_disruption_decisions_by_nodepool_total: { type: "counter", labels: [...DECISION, "nodepool"] },
  voluntary_disruption_decision_evaluation_duration_seconds: { type: "histogram", labels: [] },
  voluntary_disruption_eligible_nodes: { type: "gauge", labels: ["reason"] },
  voluntary_disruption_blocked_nodes: { type: "gauge", labels: ["reason"], isOurs: true },
  voluntary_disruption_failed_validations_total: { type: "counter", labels: ["consolidation_type"] },
  voluntary_disruption_queue_failures_total: { type: "counter", labels: DECISION },
  voluntary_disruption_consolidation_timeouts_total: { type: "counter", labels: ["consolidation_type"] },
  consolidation_moves_total: { type: "counter", labels: ["decision", "nodepool", "policy"] },
  consolidation_score: { type: "histogram", labels: ["decision", "nodepool", "policy"] },
  nodepools_allowed_disruptions: { type: "gauge", labels: ["nodepool", "reason"] },
  nodepools_nodes_consuming_budgets: { type: "gauge", labels: ["nodepool", "reason"] },
  cloudprovider_instance_launch_failures_total: {
    type: "counter",
    labels: ["zone", "zone_id", "capacity_type", "reason"],
    isEssential: true,
  },
  ec2nodeclasses_userdata_bytes: { type: "gauge", labels: ["nodeclass"] },
  interruption_received_messages_total: { type: "counter", labels: ["message_type"], isEssential: true },
  interruption_deleted_messages_total: { type: "counter", labels: [] },
  interruption_message_queue_duration_seconds: { type: "histogram", labels: [], isEssential: true },
  interruption_instance_status_unhealthy_total: { type: "counter", labels: ["category"] },
} as const satisfies Readonly<Record<string, Metric>>;

/** What the registry says about a metric. */
export const metricOf = (name: MetricName): Metric => METRICS[name];

export type MetricName<T extends Metric["type"] = Metric["type"]> = {
  [N in keyof typeof METRICS]: (typeof METRICS)[N]["type"] extends T ? N : never;
}[keyof typeof METRICS];
