import type { Lists } from "#core/set-aside/set-aside.ts";
import { NODE_CLASS_REF } from "../support/objects.ts";

const T = "2026-01-01T00:00:00Z";
const META = {
  name: "strange",
  namespace: "default",
  uid: "u-strange",
  creationTimestamp: T,
  labels: { app: "web" },
  annotations: { "karpenter.sh/do-not-disrupt": "10m", "controller.kubernetes.io/pod-deletion-cost": "1" },
  ownerReferences: [{ apiVersion: "apps/v1", kind: "StatefulSet", name: "x", uid: "x", controller: true }],
  finalizers: ["x/y"],
};
const { namespace: _, ...CLUSTER_META } = META;
const SELECTOR = { matchLabels: { app: "web" }, matchExpressions: [{ key: "app", operator: "In", values: ["web"] }] };
const EXPRESSION = { key: "topology.kubernetes.io/zone", operator: "In", values: ["a"] };
const TERM = {
  topologyKey: "topology.kubernetes.io/zone",
  labelSelector: SELECTOR,
  namespaceSelector: SELECTOR,
  namespaces: ["default"],
  matchLabelKeys: ["app"],
  mismatchLabelKeys: ["app"],
};
const RESOURCES = { requests: { cpu: "1" }, limits: { cpu: "1" } };
const CONTAINER = {
  name: "main",
  image: "x",
  resources: RESOURCES,
  ports: [{ containerPort: 80, hostPort: 80, hostIP: "1.1.1.1", protocol: "TCP" }],
  restartPolicy: "Always",
};
const POD_SPEC = {
  nodeSelector: { "topology.kubernetes.io/zone": "a" },
  containers: [CONTAINER],
  initContainers: [CONTAINER],
  affinity: {
    nodeAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: {
        nodeSelectorTerms: [
          { matchExpressions: [EXPRESSION], matchFields: [{ key: "metadata.name", operator: "In", values: ["n1"] }] },
          { matchExpressions: [EXPRESSION] },
        ],
      },
      preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 1, preference: { matchExpressions: [EXPRESSION] } }],
    },
    podAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: [TERM],
      preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 1, podAffinityTerm: TERM }],
    },
    podAntiAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: [TERM],
      preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 1, podAffinityTerm: TERM }],
    },
  },
  tolerations: [{ key: "x", operator: "Equal", value: "1", effect: "NoExecute", tolerationSeconds: 1 }],
  topologySpreadConstraints: [
    {
      maxSkew: 1,
      topologyKey: "topology.kubernetes.io/zone",
      whenUnsatisfiable: "DoNotSchedule",
      labelSelector: SELECTOR,
      minDomains: 1,
      nodeAffinityPolicy: "Honor",
      nodeTaintsPolicy: "Honor",
      matchLabelKeys: ["app"],
    },
  ],
  overhead: { cpu: "1m" },
  resources: RESOURCES,
  resourceClaims: [{ name: "x" }],
  volumes: [
    { name: "v", persistentVolumeClaim: { claimName: "strange" } },
    { name: "e", ephemeral: { volumeClaimTemplate: { spec: { storageClassName: "strange" } } } },
  ],
  priority: 1,
  priorityClassName: "x",
  terminationGracePeriodSeconds: 1,
  schedulerName: "default-scheduler",
};
const STATUS = {
  phase: "Pending",
  startTime: T,
  nominatedNodeName: "",
  conditions: [{ type: "PodScheduled", status: "False", reason: "Unschedulable", message: "m", lastTransitionTime: T }],
  containerStatuses: [{ name: "main", allocatedResources: { cpu: "1" }, resources: RESOURCES }],
  initContainerStatuses: [{ name: "main", allocatedResources: { cpu: "1" }, resources: RESOURCES }],
  allocatedResources: { cpu: "1" },
  resources: RESOURCES,
};
const LABELS = {
  "karpenter.sh/nodepool": "default",
  "karpenter.sh/capacity-type": "on-demand",
  "node.kubernetes.io/instance-type": "large",
  "topology.kubernetes.io/zone": "a",
  "karpenter.sh/registered": "true",
  "karpenter.sh/initialized": "true",
};
const CONDITION = { type: "Ready", status: "True", reason: "x", message: "m", lastTransitionTime: T, observedGeneration: 1 };
const TAINT = { key: "x", value: "y", effect: "NoSchedule", timeAdded: T };
const AMOUNTS = { capacity: { cpu: "4", pods: "10" }, allocatable: { cpu: "4", pods: "10" } };
const { affinity: __, topologySpreadConstraints: ___, resourceClaims: ____, volumes: _____, ...SMALL_POD } = POD_SPEC;
export interface FullObject {
  readonly what: string;
  /** The list of a snapshot that it is an item of. */
  readonly list: keyof Lists;
  readonly full: object;
}

/** An object of each kind that decisions read, with all fields that they read. */
export const FULL_OBJECTS: readonly FullObject[] = [
  { what: "a pending Pod", list: "pods", full: { metadata: META, spec: POD_SPEC, status: STATUS } },
  { what: "a pending Pod without rules", list: "pods", full: { metadata: META, spec: SMALL_POD, status: STATUS } },
  {
    what: "a running Pod",
    list: "pods",
    full: {
      metadata: { ...META, deletionTimestamp: T, deletionGracePeriodSeconds: 1 },
      spec: { ...POD_SPEC, nodeName: "n1" },
      status: { ...STATUS, phase: "Running" },
    },
  },
  {
    what: "an active running Pod",
    list: "pods",
    full: { metadata: META, spec: { ...POD_SPEC, nodeName: "n1" }, status: { ...STATUS, phase: "Running" } },
  },
  {
    what: "a Node",
    list: "nodes",
    full: {
      metadata: { ...CLUSTER_META, labels: LABELS },
      spec: { providerID: "aws:///a/i-x", taints: [TAINT], unschedulable: true },
      status: { ...AMOUNTS, conditions: [CONDITION], addresses: [{ type: "InternalIP", address: "1.1.1.1" }] },
    },
  },
  {
    what: "an imposter Node",
    list: "nodes",
    full: {
      metadata: { ...CLUSTER_META, labels: LABELS },
      spec: { providerID: "aws:///a/i-n1", taints: [TAINT], unschedulable: true },
      status: { ...AMOUNTS, conditions: [{ ...CONDITION, status: "False" }] },
    },
  },
  {
    what: "a NodeClaim",
    list: "nodeClaims",
    full: {
      metadata: { ...CLUSTER_META, labels: LABELS },
      spec: {
        requirements: [{ ...EXPRESSION, minValues: 1 }],
        resources: { requests: { cpu: "1" } },
        taints: [TAINT],
        startupTaints: [TAINT],
        nodeClassRef: NODE_CLASS_REF,
        expireAfter: "1h",
        terminationGracePeriod: "1h",
      },
      status: {
        ...AMOUNTS,
        providerID: "aws:///a/i-y",
        imageID: "ami",
        nodeName: "y",
        lastPodEventTime: T,
        conditions: [
          CONDITION,
          { ...CONDITION, type: "Initialized" },
          { ...CONDITION, type: "Drifted" },
          { ...CONDITION, type: "Launched" },
        ],
      },
    },
  },
  {
    what: "a NodePool",
    list: "nodePools",
    full: {
      metadata: { ...CLUSTER_META, labels: LABELS },
      spec: {
        weight: 1,
        limits: { cpu: "1" },
        template: {
          metadata: { labels: { a: "b" }, annotations: { a: "b" } },
          spec: {
            requirements: [{ ...EXPRESSION, minValues: 1 }],
            taints: [TAINT],
            startupTaints: [TAINT],
            nodeClassRef: NODE_CLASS_REF,
            expireAfter: "1h",
            terminationGracePeriod: "1h",
          },
        },
        disruption: {
          consolidationPolicy: "WhenEmpty",
          consolidateAfter: "1s",
          budgets: [{ nodes: "10%", schedule: "* * * * *", duration: "1m", reasons: ["Empty"] }],
        },
      },
      status: { conditions: [CONDITION], resources: { cpu: "1" }, nodes: 1 },
    },
  },
  {
    what: "a DaemonSet",
    list: "daemonSets",
    full: { metadata: META, spec: { selector: SELECTOR, template: { metadata: { labels: { a: "b" } }, spec: POD_SPEC } } },
  },
  {
    what: "a PodDisruptionBudget",
    list: "podDisruptionBudgets",
    full: {
      metadata: META,
      spec: { selector: SELECTOR, minAvailable: 1, maxUnavailable: "1%", unhealthyPodEvictionPolicy: "AlwaysAllow" },
      status: { disruptionsAllowed: 1 },
    },
  },
  { what: "a Namespace", list: "namespaces", full: { metadata: { ...CLUSTER_META, name: "default" } } },
  {
    what: "a PersistentVolumeClaim",
    list: "persistentVolumeClaims",
    full: {
      metadata: { ...META, annotations: { "pv.kubernetes.io/bind-completed": "yes" } },
      spec: { storageClassName: "strange", volumeName: "strange", accessModes: ["ReadWriteOnce"] },
      status: { phase: "Bound" },
    },
  },
  {
    what: "a PersistentVolume",
    list: "persistentVolumes",
    full: {
      metadata: CLUSTER_META,
      spec: {
        nodeAffinity: { required: { nodeSelectorTerms: [{ matchExpressions: [EXPRESSION] }] } },
        csi: { driver: "x" },
        local: {},
        hostPath: {},
        awsElasticBlockStore: {},
      },
    },
  },
  {
    what: "a StorageClass",
    list: "storageClasses",
    full: {
      metadata: CLUSTER_META,
      provisioner: "x",
      volumeBindingMode: "WaitForFirstConsumer",
      allowedTopologies: [{ matchLabelExpressions: [{ key: "topology.kubernetes.io/zone", values: ["a"] }] }],
    },
  },
  {
    what: "a CSINode",
    list: "csiNodes",
    full: { metadata: { ...CLUSTER_META, name: "n1" }, spec: { drivers: [{ name: "x", allocatable: { count: 1 } }] } },
  },
];
