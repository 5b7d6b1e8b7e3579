import { contentHash } from "../lib/fnv.ts";
import type { EC2NodeClass } from "../model/node-class.ts";

// What may leave a cluster in a file: the fields that decisions read, by name, so that a field which is not listed here
// stays in the cluster.

/** Fields to keep, by name: a field as it is, or some of its own fields. In a list, the rule holds for each item. */
type Fields = { readonly [name: string]: true | Fields };

const all = (...names: readonly string[]): Fields => Object.fromEntries(names.map((name) => [name, true]));

const CONDITIONS: Fields = { conditions: all("type", "status", "reason", "lastTransitionTime") };
const OWNER = all("apiVersion", "kind", "name", "uid", "controller");
const METADATA: Fields = {
  ...all("name", "namespace", "uid", "creationTimestamp", "deletionTimestamp", "labels", "annotations"),
  ownerReferences: OWNER,
};
const RESOURCES: Fields = { resources: { requests: true, limits: true, claims: true } };
const CONTAINERS: Fields = { name: true, ...RESOURCES, ports: all("containerPort", "hostPort", "hostIP", "protocol"), restartPolicy: true };
const CLAIM_SPEC = all("storageClassName", "volumeName", "accessModes");
const POD_SPEC: Fields = {
  ...all("nodeName", "nodeSelector", "affinity", "tolerations", "topologySpreadConstraints", "overhead", "resourceClaims"),
  ...all("priority", "priorityClassName", "terminationGracePeriodSeconds", "schedulerName", "hostNetwork"),
  ...RESOURCES,
  ...{ containers: CONTAINERS, initContainers: CONTAINERS },
  volumes: { name: true, persistentVolumeClaim: all("claimName"), ephemeral: { volumeClaimTemplate: { spec: CLAIM_SPEC } } },
};
const POD_STATUS: Fields = { ...all("phase", "nominatedNodeName", "startTime"), ...CONDITIONS };

const WORKLOAD: Fields = {
  metadata: METADATA,
  spec: {
    ...all("replicas", "selector", "podManagementPolicy"),
    template: { metadata: { labels: true }, spec: POD_SPEC },
    volumeClaimTemplates: { metadata: all("name"), spec: CLAIM_SPEC },
  },
};

/**
 * The fields of each kind that decisions read. Pods lose their environment, commands, images and all volumes but
 * claims.
 */
export const KEPT_FIELDS = {
  NodePool: { metadata: METADATA, spec: true, status: { ...all("resources", "nodes"), ...CONDITIONS } },
  Node: {
    metadata: METADATA,
    spec: all("providerID", "taints", "unschedulable"),
    status: { ...all("capacity", "allocatable"), ...CONDITIONS },
  },
  NodeClaim: {
    metadata: METADATA,
    spec: true,
    status: { ...all("providerID", "imageID", "nodeName", "capacity", "allocatable", "lastPodEventTime"), ...CONDITIONS },
  },
  Pod: { metadata: METADATA, spec: POD_SPEC, status: POD_STATUS },
  ReplicaSet: WORKLOAD,
  StatefulSet: WORKLOAD,
  DaemonSet: { metadata: METADATA, spec: { selector: true, template: { metadata: { labels: true }, spec: POD_SPEC } } },
  PodDisruptionBudget: { metadata: METADATA, spec: true, status: all("disruptionsAllowed") },
  PersistentVolumeClaim: { metadata: METADATA, spec: CLAIM_SPEC, status: all("phase") },
  PersistentVolume: {
    metadata: METADATA,
    spec: { nodeAffinity: true, csi: all("driver"), awsElasticBlockStore: {}, local: {}, hostPath: {} },
  },
  StorageClass: { metadata: METADATA, ...all("provisioner", "volumeBindingMode", "allowedTopologies") },
  CSINode: { metadata: METADATA, spec: { drivers: all("name", "allocatable") } },
  Namespace: { metadata: METADATA },
  EC2NodeClass: { metadata: METADATA, spec: true, status: { ...all("subnets", "securityGroups", "amis"), ...CONDITIONS } },
  NodeOverlay: { metadata: METADATA, spec: true },
} as const satisfies Readonly<Record<string, Fields>>;

/** Annotations that a decision reads. Others may hold anything, such as whole manifests with their secrets. */
const READ_ANNOTATIONS =
  /^(karpenter|karpenter-serverless|[\w.-]*karpenter\.(sh|k8s\.aws)|(cluster-autoscaler|controller|pv)\.kubernetes\.io)/;

/** The listed fields of an object, and of annotations those that a decision reads. */
export function keptFields(value: unknown, fields: Fields): unknown {
  if (Array.isArray(value)) return value.map((item) => keptFields(item, fields));
  if (typeof value !== "object" || value === null) return value;
  const kept: [string, unknown][] = [];
  for (const [name, inner] of Object.entries(fields)) {
    const given = (value as Readonly<Record<string, unknown>>)[name];
    if (given === undefined || given === null) continue;
    kept.push([name, inner === true ? (name === "annotations" ? decisive(given) : given) : keptFields(given, inner)]);
  }
  return Object.fromEntries(kept);
}

function decisive(annotations: unknown): unknown {
  return Object.fromEntries(Object.entries(annotations as Readonly<Record<string, string>>).filter(([key]) => READ_ANNOTATIONS.test(key)));
}

/** User data often hold secrets, so a hash replaces them: it shows whether they have changed. */
export function withoutUserData(nodeClass: EC2NodeClass): EC2NodeClass {
  const { userData } = nodeClass.spec;
  return userData === undefined
    ? nodeClass
    : { ...nodeClass, spec: { ...nodeClass.spec, userData: `left out (${contentHash(userData)})` } };
}
