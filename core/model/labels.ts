/**
 * Names of labels, taints, annotations and finalizers of the API. They are Karpenter's, unchanged, because manifests
 * and dashboards rely on them.
 */

export const NODE_POOL = "karpenter.sh/nodepool";
export const CAPACITY_TYPE = "karpenter.sh/capacity-type";
export const INITIALIZED = "karpenter.sh/initialized";
export const REGISTERED = "karpenter.sh/registered";
export const NODE_CLASS_GROUP = "karpenter.k8s.aws";
export const NODE_CLASS = "karpenter.k8s.aws/ec2nodeclass";
export const DO_NOT_SYNC_TAINTS = "karpenter.sh/do-not-sync-taints";

export const ZONE = "topology.kubernetes.io/zone";
export const REGION = "topology.kubernetes.io/region";
export const ZONE_ID = "topology.k8s.aws/zone-id";
export const INSTANCE_TYPE = "node.kubernetes.io/instance-type";
export const ARCH = "kubernetes.io/arch";
export const OS = "kubernetes.io/os";
export const HOSTNAME = "kubernetes.io/hostname";
export const WINDOWS_BUILD = "node.kubernetes.io/windows-build";
export const EXCLUDE_BALANCERS = "node.kubernetes.io/exclude-from-external-load-balancers";

export const CAPACITY_RESERVATION_ID = "karpenter.k8s.aws/capacity-reservation-id";
export const CAPACITY_RESERVATION_TYPE = "karpenter.k8s.aws/capacity-reservation-type";
export const CAPACITY_RESERVATION_INTERRUPTIBLE = "karpenter.k8s.aws/capacity-reservation-interruptible";
export const PLACEMENT_GROUP_ID = "karpenter.k8s.aws/placement-group-id";
export const PLACEMENT_GROUP_PARTITION = "karpenter.k8s.aws/placement-group-partition";

export const TERMINATION_FINALIZER = "karpenter.sh/termination";

export const DO_NOT_DISRUPT = "karpenter.sh/do-not-disrupt";
export const DO_NOT_REPAIR = "karpenter.sh/do-not-repair";
export const REBOOT_PRE_BOOT_ID = "karpenter.sh/reboot-pre-boot-id";
export const REBOOT_GRACE_PERIOD = "karpenter.sh/reboot-termination-grace-period";
export const NODE_POOL_HASH = "karpenter.sh/nodepool-hash";
export const NODE_POOL_HASH_VERSION = "karpenter.sh/nodepool-hash-version";
export const TERMINATION_TIMESTAMP = "karpenter.sh/nodeclaim-termination-timestamp";
export const MIN_VALUES_RELAXED = "karpenter.sh/nodeclaim-min-values-relaxed";

/**
 * Our own annotation: the intentId that a NodeClaim was made for. It separates our NodeClaim from another object of the
 * same name.
 */
export const INTENT = "karpenter-serverless/intent";

/** Our own annotation of a NodePool: the most that its nodes may cost together, USD per hour. */
export const MAX_PRICE_PER_HOUR = "karpenter-serverless/max-price-per-hour";

/** Under this name status.resources of such a NodePool has what its nodes cost, USD per hour. */
export const PRICE_PER_HOUR = "karpenter-serverless/price-per-hour";

/** Our own annotation of a NodePool: when it sleeps (core/node-pool/schedule.ts). */
export const SCHEDULE = "karpenter-serverless/schedule";

/** Our own annotation of a NodePool: how many tries in a row have failed (core/node-pool/launch-backoff.ts). */
export const LAUNCH_BACKOFF = "karpenter-serverless/launch-backoff";

/** Our own annotation of a NodePool: another value closes what the circuit breaker has opened. */
export const CIRCUIT_RESET = "karpenter-serverless/circuit-reset";

export const DISRUPTED_TAINT = { key: "karpenter.sh/disrupted", effect: "NoSchedule" } as const;
export const REBOOTING_TAINT = { key: "karpenter.sh/rebooting", effect: "NoSchedule" } as const;
export const UNREGISTERED_TAINT = { key: "karpenter.sh/unregistered", effect: "NoExecute" } as const;

const AWS_INSTANCE_LABELS = [
  "hypervisor",
  "encryption-in-transit-supported",
  "category",
  "capability-flex",
  "family",
  "generation",
  "size",
  "local-nvme",
  "cpu",
  "cpu-manufacturer",
  "cpu-sustained-clock-speed-mhz",
  "memory",
  "ebs-bandwidth",
  "network-bandwidth",
  "gpu-name",
  "gpu-manufacturer",
  "gpu-count",
  "gpu-memory",
  "accelerator-name",
  "accelerator-manufacturer",
  "accelerator-count",
  "tenancy",
].map((name) => `karpenter.k8s.aws/instance-${name}`);

/**
 * Labels that a new node may get from its instance type or offering, so that a NodePool need not define them
 * (karpenter: pkg/apis/v1/labels.go, WellKnownLabels).
 */
export const WELL_KNOWN_LABELS: ReadonlySet<string> = new Set([
  NODE_POOL,
  ZONE,
  REGION,
  INSTANCE_TYPE,
  ARCH,
  OS,
  CAPACITY_TYPE,
  WINDOWS_BUILD,
  ZONE_ID,
  CAPACITY_RESERVATION_ID,
  CAPACITY_RESERVATION_TYPE,
  CAPACITY_RESERVATION_INTERRUPTIBLE,
  PLACEMENT_GROUP_ID,
  PLACEMENT_GROUP_PARTITION,
  ...AWS_INSTANCE_LABELS,
]);
/** Annotation of a NodeClaim: the instance profile that its instance was launched with. */
export const INSTANCE_PROFILE_ANNOTATION = "karpenter.k8s.aws/instance-profile-name";
