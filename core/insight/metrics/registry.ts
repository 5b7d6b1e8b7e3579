const OF_NODE = ["node_name", "nodepool", "resource_type"] as const;
const OF_POD = ["name", "namespace"] as const;
const OF_OFFERING = ["instance_type", "capacity_type", "zone"] as const;
const OF_CONDITION = ["namespace", "name", "type", "status", "reason"] as const;

interface ScrapedGauge {
  /**
   * What distinguishes its series in a cluster. Gauges of nodes have each well-known label of the node beside these, in
   * snake case and without its domain, and `phase` and `managed`; pods_state has the labels of the pod's node.
   */
  readonly labels: readonly string[];
  /** For the line HELP. */
  readonly help: string;
  /** Without the prefix `karpenter_`: the name is that of a library of Karpenter's. */
  readonly unprefixed?: true;
}

/** Kinds whose status conditions have gauges. */
export type ConditionedKind = "nodeclaim" | "nodepool" | "node" | "ec2nodeclass";

/** Of Karpenter's library operatorpkg, for each kind. */
const CONDITION_COUNT = { labels: OF_CONDITION, help: "1 for each status condition of an object", unprefixed: true } as const;
const CONDITION_SECONDS = { labels: OF_CONDITION, help: "Seconds since the status condition has its status", unprefixed: true } as const;

/**
 * Every gauge that is worked out when the metrics function is asked, by its name without `karpenter_`. The others are
 * in core/ports/metric-registry.ts; docs/metrics-and-events.md has a row for each.
 */
export const SCRAPED = {
  build_info: { labels: ["version"], help: "1; the label has the version of karpenter-serverless" },
  cluster_state_node_count: { labels: [], help: "Nodes of the cluster" },
  cluster_state_synced: { labels: [], help: "1 when the cluster could be read for this answer, 0 otherwise" },
  cluster_state_unsynced_time_seconds: { labels: [], help: "Seconds since the cluster could last be read; 0 while it can" },
  cluster_utilization_percent: { labels: ["resource_type"], help: "Requests of bound pods as percentage of what nodes can allocate" },
  nodepools_limit: { labels: ["resource_type", "nodepool"], help: "spec.limits of the NodePool" },
  nodepools_usage: { labels: ["resource_type", "nodepool"], help: "status.resources of the NodePool" },
  nodepools_cost_total: { labels: ["nodepool"], help: "USD per hour of the NodePool's nodes, each at the price of its offering" },
  nodes_allocatable: { labels: OF_NODE, help: "What the node can allocate to pods" },
  nodes_system_overhead: { labels: OF_NODE, help: "Capacity of the node that it cannot allocate to pods" },
  nodes_total_pod_requests: { labels: OF_NODE, help: "Requests of the pods on the node, those of DaemonSets included" },
  nodes_total_pod_limits: { labels: OF_NODE, help: "Limits of the pods on the node, those of DaemonSets included" },
  nodes_total_daemon_requests: { labels: OF_NODE, help: "Requests of the DaemonSets' pods on the node" },
  nodes_total_daemon_limits: { labels: OF_NODE, help: "Limits of the DaemonSets' pods on the node" },
  nodes_current_lifetime_seconds: { labels: ["node_name", "nodepool"], help: "Age of the node" },
  pods_state: { labels: ["name", "namespace", "owner", "node", "scheduled", "phase", "ready"], help: "1 for each pod that has not ended" },
  pods_unbound_time_seconds: { labels: OF_POD, help: "Age of a pod that is not bound to a node" },
  pods_unstarted_time_seconds: { labels: OF_POD, help: "Age of a pod whose phase is Pending" },
  pods_provisioning_unbound_time_seconds: { labels: OF_POD, help: "Seconds since a NodeClaim was planned for a pod that is not bound" },
  pods_provisioning_unstarted_time_seconds: { labels: OF_POD, help: "Seconds since a NodeClaim was planned for a pod that is Pending" },
  cloudprovider_instance_type_cpu_cores: { labels: ["instance_type"], help: "vCPUs of the instance type" },
  cloudprovider_instance_type_memory_bytes: { labels: ["instance_type"], help: "Memory of the instance type" },
  cloudprovider_instance_type_offering_available: { labels: OF_OFFERING, help: "1 while the offering may be launched, 0 otherwise" },
  cloudprovider_instance_type_offering_price_estimate: { labels: OF_OFFERING, help: "USD per hour of the offering" },
  operator_nodeclaim_status_condition_count: CONDITION_COUNT,
  operator_nodeclaim_status_condition_current_status_seconds: CONDITION_SECONDS,
  operator_nodepool_status_condition_count: CONDITION_COUNT,
  operator_nodepool_status_condition_current_status_seconds: CONDITION_SECONDS,
  operator_node_status_condition_count: CONDITION_COUNT,
  operator_node_status_condition_current_status_seconds: CONDITION_SECONDS,
  operator_ec2nodeclass_status_condition_count: CONDITION_COUNT,
  operator_ec2nodeclass_status_condition_current_status_seconds: CONDITION_SECONDS,
} as const satisfies Readonly<Record<string, ScrapedGauge>>;

export type ScrapedName = keyof typeof SCRAPED;

/** What the registry says about a gauge. */
export const scrapedGauge = (name: ScrapedName): ScrapedGauge => SCRAPED[name];
