import type { Gate, SettingName } from "#settings/setting-table.ts";

/**
 * What every setting of Karpenter v1.15, and every setting of our own, does here, or why it has no effect.
 * docs/settings.md is made from these notes and from settings/setting-table.ts (settings-page.ts); a setting
 * or gate without its note does not compile.
 */

/** Settings of Karpenter that describe its one cluster: they fill in the one cluster of a deployment (settings.ts). */
export type ClusterSetting = "CLUSTER_CA_BUNDLE" | "CLUSTER_ENDPOINT" | "CLUSTER_NAME";

/** What each setting with an effect does. A note ends without a full stop. */
export const EFFECTS: Readonly<Record<SettingName | ClusterSetting, string>> = {
  AMI_REFRESH_INTERVAL:
    "how long images that were found stay good, 1m to 24h; a NodeClass that is ready is looked at every 5 minutes, so less changes nothing",
  BATCH_IDLE_DURATION:
    "how long no pod must have come before a plan is made. A pod's arrival is known to half a second; a wake-up is held back for a second at least",
  BATCH_MAX_DURATION: "the longest time from the first pod to the plan, while further pods come",
  BESIDE_KARPENTER:
    "plan, launch and disrupt although a Karpenter runs in the cluster; only for a Karpenter that has no NodePools of EC2NodeClasses to itself, since two autoscalers launch for the same pods",
  BURSTABLE_PRICE:
    "`surplus`: a T type counts its price and the surplus credits that the requests of its pods cost if they are used; `list`: its price alone",
  CLOUDWATCH_METRICS:
    "what CloudWatch makes metrics of: `essential`: what a person on call needs, eight figures for each cluster without further labels; `all` values, each with the dimensions `cluster` and those of its labels, as Karpenter's dashboards need them; `both`: each once more without it, for dashboards that name no cluster, at twice the price; `counts`: of gauges only the essential ones; `none`. What is not sent stays in the log. A metric costs $0.30 a month: [what it costs](metrics-and-events.md#what-metrics-cost)",
  CLUSTER_CA_BUNDLE: "`caBundle` of the cluster, if the deployment names one; EKS is asked otherwise",
  CLUSTER_ENDPOINT: "`endpoint` of the cluster, if the deployment names one; EKS is asked otherwise",
  CLUSTER_NAME: "must be the cluster that `clusters` names; with several clusters it is refused",
  CONSOLIDATION_HORIZON:
    "within this time a saving must have repaid its disruption, or it is left; `none` asks for no such thing, as Karpenter",
  DISRUPTION_RATE:
    "the share of a cluster's nodes, at least ten, that may be ended within a time, over all NodePools, where pods must move; it doubles as long as the pods that moved are well ([limits](limits.md#the-disruption-rate)); `off` for no limit, as Karpenter",
  CONSOLIDATION_POD_COST:
    "USD that moving one pod of eviction cost 1 counts as, and ending one node; without effect while the horizon is `none`",
  LAUNCH_TOGETHER:
    "from so many NodeClaims of one plan on that may become the same machines (in each zone, where they have a choice) one CreateFleet launches up to 50 of them; `none` launches each by itself",
  ENABLE_ZONAL_SHIFT:
    "zones that ARC shifts the EKS cluster away from get no new nodes for as long as the shift lasts; asked once a minute. A cluster that ARC does not manage is named in the log, and keeps working",
  FEATURE_GATES: "`Name=true,Other=false`; see below. Unknown gates are ignored",
  HISTORY_DAYS:
    "how many days the [history](history.md) is kept, which the commands `why`, `history` and `report` read; `0` keeps none. A shorter time holds for what is written from then on",
  ISOLATED_VPC:
    "neither the Price List API nor IAM is called, since no endpoint reaches them: on-demand prices stay those of the release, and each EC2NodeClass must name its `instanceProfile`",
  KUBE_CLIENT_BURST: "requests to one API server at once, of one running function",
  KUBE_CLIENT_QPS: "the same a second, in the long run",
  LEGACY_NODE_REPAIR:
    "under the gate NodeRepair, unhealthy nodes are replaced by force, without budgets or replacements first, as before Karpenter 1.15; it is to be removed once Karpenter removes it ([node repair](node-repair.md))",
  LOG_LEVEL: "`debug`, `info` or `error`",
  MAX_PRICE_PER_HOUR:
    "the most that the nodes of a cluster may cost together, in dollars an hour: `20` for each cluster, `prod=50,dev=5` for those that are named, or `none`. It holds like a limit: [a cap in dollars](recipes.md#a-cap-in-dollars-an-hour)",
  MIN_VALUES_POLICY: "`Strict`, or `BestEffort`: `minValues` are lowered where a pod would find no place",
  NODE_OVERHEAD_PRICE:
    "USD an hour that each node counts beside its instance and its volumes, for plans and for consolidation: agents, licences, addresses, upgrades. Plans have fewer, larger nodes the higher it is; `0` counts what AWS bills",
  PREFERENCE_POLICY:
    "`Respect`; `Ignore`: what pods prefer is not looked at; `Weigh`: pods give up or loosen preferences for which the nodes of their controller cost more than a tenth more",
  RESERVED_ENIS: "network interfaces that pods get no addresses of (custom networking)",
  SCHEDULER_CONFIG: "kube-scheduler's `podTopologySpread.defaultConstraints`, YAML or JSON: the spread of pods that name none",
  SECURITY_GROUP_REFRESH_INTERVAL:
    "how long security groups that were found stay good, 1m to 24h; they are asked for every 5 minutes, so less changes nothing",
  SLEEP_SCHEDULE:
    'when NodePools without a schedule of their own sleep: `0 20 * * 1-5 for 10h` in each cluster, `{"dev":"0 20 * * 1-5 for 10h"}` in those that are named, or `none`: [sleep at night](recipes.md#sleep-at-night)',
  RESERVED_INSTANCES:
    "count the account's active reserved instances as paid for: on-demand machines that they pay for come before spot, as long as something is left of them, across all clusters of the account ([recipe](recipes.md#what-savings-plans-and-reserved-instances-pay-for))",
  SAVINGS_PLANS:
    "what Savings Plans of the functions' account pay for, which counts as `RESERVED_INSTANCES` does: `m5=3.60` for m5 machines of $3.60 an hour at on-demand prices, `*=10@28%` for any family, a commitment of $10 an hour at prices 28 % below; a list of these; `none`",
  STACK_MAX_PRICE_PER_HOUR: "the same for all clusters of the stack together; `none`",
  SUBNET_REFRESH_INTERVAL: "how long subnets that were found stay good, 1m to 24h",
  VM_MEMORY_OVERHEAD_PERCENT: "share of a machine's memory that its hypervisor keeps, 0.075 for 7.5 %",
};

const NO_PROCESS = "functions are started for each event and end with it; no process waits";

/**
 * Settings without an effect, and why: accepted with a warning, so that what was set for Karpenter can be carried over.
 */
export const WITHOUT_EFFECT: Readonly<Record<string, string>> = {
  AWS_FEATURE_GATES:
    "NodeClassCEL needs no gate: expressions in `spec.kubelet` are always evaluated; RebootForRepair is a gate of FEATURE_GATES here; DRANVIDIAGPU and DRAEFA are not here yet",
  CPU_REQUESTS: "it sizes a controller's worker pool; here each claim has an invocation, and infra/functions.ts says how many run at once",
  DISABLE_CLUSTER_STATE_OBSERVABILITY:
    "gauges of single nodes and pods are not sent to CloudWatch, which would charge for each; the function that Prometheus reads computes them, and only a deployment with scrape has it",
  DISABLE_CONTROLLER_WARMUP: NO_PROCESS,
  DISABLE_DRY_RUN:
    "a NodeClass is not tried by dry runs: they would test another function's role; a launch that is refused says so on the NodeClaim",
  DISABLE_LEADER_ELECTION:
    "there is no leader election: a function that decides for a cluster takes its lease in the table for that decision",
  EKS_CONTROL_PLANE: "the API server is asked for its version, and functions come in by EKS's authentication, whatever it says",
  ENABLE_PROFILING: NO_PROCESS,
  HEALTH_PROBE_PORT: NO_PROCESS,
  IGNORE_DRA_REQUESTS: "no node is planned for a pod that claims devices (dynamic resource allocation), whatever it says",
  INTERRUPTION_QUEUE: "the stack makes its own queue and rules; take those of Karpenter's stack away with it",
  KARPENTER_SERVICE: "there is no Service in the cluster",
  LEADER_ELECTION_NAME: "there is no leader election: a function that decides for a cluster takes its lease in the table for that decision",
  LEADER_ELECTION_NAMESPACE:
    "there is no leader election: a function that decides for a cluster takes its lease in the table for that decision",
  LOG_ERROR_OUTPUT_PATHS: "Lambda collects the logs of each function in its log group",
  LOG_OUTPUT_PATHS: "Lambda collects the logs of each function in its log group",
  MEMORY_LIMIT: "it bounds a Go process; the memory of each function is in infra/functions.ts",
  METRICS_PORT: "metrics go to CloudWatch, namespace Karpenter; with scrape Prometheus reads them from a function's URL, which has no port",
  NOMINATE_NODES: "pods always get the node that they were planned for as `status.nominatedNodeName`, from Kubernetes 1.35 on",
  PREFERENCE_COST_SHARE: "with `PREFERENCE_POLICY=Weigh` the share is always 0.1",
  QUIET_SWEEPS: "each sweep reads the whole cluster (decision 0024)",
  SYSTEM_NAMESPACE: "nothing runs in a namespace of the cluster",
};

/** What each feature gate that has an effect brings. */
export const GATES: Readonly<Record<Gate, string>> = {
  CapacityBuffer:
    "room kept for pods to come (autoscaling.x-k8s.io/v1beta1): `kubectl get cb`. A cluster that has the kind already, in more versions, leaves `infra/crds/autoscaling.x-k8s.io_capacitybuffers.yaml` out",
  NodeOverlay: "your own prices and extended resources by instance type, pool, zone or capacity type: `kubectl get nodeoverlays`",
  NodeRepair: "nodes that stay unhealthy are replaced, within budgets of the reason `Unhealthy` ([node repair](node-repair.md))",
  RebootForRepair:
    "an XID of a GPU that a reboot clears is repaired by one ([node repair](node-repair.md#reboot)); the functions may then call ec2:RebootInstances",
  ReservedCapacity: "capacity reservations that an EC2NodeClass selects are used first, and other launches stay out of open ones",
  SpotToSpotConsolidation: "a spot node is replaced by a cheaper spot node (15 types to choose from, as Karpenter asks)",
  StaticCapacity: "NodePools with `replicas` are kept at that number; `kubectl scale nodepool`",
  TerminateFirstDrift:
    "a drifted node whose replacement has no place beside it, in a full capacity reservation or under `limits.nodes` of a static NodePool, goes first; without the gate it stays",
  TerminateFirstRepair:
    "an unhealthy node whose replacement has no place beside it, in a full capacity reservation or under `limits.nodes` of a static NodePool, goes first ([node repair](node-repair.md))",
};
