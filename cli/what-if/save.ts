import { writeFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { stageOf } from "#core/insight/what-if/start.ts";
import { contentHash } from "#core/lib/fnv.ts";
import type { InstanceType } from "#core/model/instance-type.ts";
import type { KubernetesObject } from "#core/model/kubernetes.ts";
import type { EC2NodeClass } from "#core/model/node-class.ts";
import { counted } from "#core/scheduling/reasons/words.ts";
import { InputError } from "#terminal/input-error.ts";
import type { Source } from "./source.ts";

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

/**
 * What a saved snapshot keeps of the objects of each list: the fields that the core reads, by name, so that a field
 * which is not listed here never leaves the cluster. Pods lose their environment, commands, images and all volumes but
 * claims.
 */
const KEPT: Readonly<Record<string, Fields>> = {
  nodePools: { metadata: METADATA, spec: true, status: { ...all("resources", "nodes"), ...CONDITIONS } },
  nodes: {
    metadata: METADATA,
    spec: all("providerID", "taints", "unschedulable"),
    status: { ...all("capacity", "allocatable"), ...CONDITIONS },
  },
  nodeClaims: {
    metadata: METADATA,
    spec: true,
    status: { ...all("providerID", "imageID", "nodeName", "capacity", "allocatable", "lastPodEventTime"), ...CONDITIONS },
  },
  pods: { metadata: METADATA, spec: POD_SPEC, status: POD_STATUS },
  daemonSets: { metadata: METADATA, spec: { selector: true, template: { metadata: { labels: true }, spec: POD_SPEC } } },
  podDisruptionBudgets: { metadata: METADATA, spec: true, status: all("disruptionsAllowed") },
  persistentVolumeClaims: { metadata: METADATA, spec: CLAIM_SPEC, status: all("phase") },
  persistentVolumes: {
    metadata: METADATA,
    spec: { nodeAffinity: true, csi: all("driver"), awsElasticBlockStore: {}, local: {}, hostPath: {} },
  },
  storageClasses: { metadata: METADATA, ...all("provisioner", "volumeBindingMode", "allowedTopologies") },
  csiNodes: { metadata: METADATA, spec: { drivers: all("name", "allocatable") } },
  namespaces: { metadata: METADATA },
  nodeClasses: { metadata: METADATA, spec: true, status: { ...all("subnets", "securityGroups", "amis"), ...CONDITIONS } },
  nodeOverlays: { metadata: METADATA, spec: true },
};

/** Annotations that a decision reads. Others may hold anything, such as whole manifests with their secrets. */
const READ_ANNOTATIONS =
  /^(karpenter|karpenter-serverless|[\w.-]*karpenter\.(sh|k8s\.aws)|(cluster-autoscaler|controller|pv)\.kubernetes\.io)/;

/**
 * Writes what the core reads of a cluster to a file, and says what it wrote. Throws InputError when the file cannot be
 * written.
 */
export function saveSource(source: Source, path: string): string {
  const json = JSON.stringify(savedSource(source));
  try {
    writeFileSync(path, path.endsWith(".gz") ? gzipSync(json) : json);
  } catch (error) {
    throw new InputError(`cannot write ${path}: ${error instanceof Error ? error.message : String(error)}`);
  }
  const { nodes, pods, virtualPods = [] } = source.snapshot;
  const left = virtualPods.length > 0 ? " CapacityBuffers are left out." : "";
  const what = `${path}: ${counted(nodes.length, "node")}, ${counted(pods.length, "pod")}; without environment, commands, images, user data, foreign annotations.`;
  return `${what}${left}\nNames, labels and the specs of definitions are in it: look before you hand it on.\n`;
}

/**
 * A source as a scenario (docs/scenario-format.md), with nodeClasses, nodeOverlays and otherInstanceTypes. What the
 * stack's table knows is written into the objects.
 */
export function savedSource({ name, snapshot, nodeClasses, nodeOverlays, intents, typesOf, remarks }: Source): Record<string, unknown> {
  const staged = stageOf(snapshot, intents).snapshot;
  const { priceCap: cap } = snapshot;
  const objects: Readonly<Record<string, readonly KubernetesObject[]>> = {
    ...(staged as unknown as Record<string, readonly KubernetesObject[]>),
    nodeClasses: nodeClasses.map(withoutUserData),
    nodeOverlays,
  };
  const lists = Object.entries(KEPT).map(([list, fields]) => [list, (objects[list] ?? []).map((object) => cut(object, fields))]);
  const classes = [...new Set(snapshot.nodePools.map(({ spec }) => spec.template.spec.nodeClassRef.name))].sort();
  const [main = [], ...others] = byUse(classes.map((one): readonly [string, readonly InstanceType[]] => [one, typesOf(one, nodeClasses)]));
  return {
    name,
    now: new Date(snapshot.now).toISOString(),
    ...(remarks.length > 0 && { remarks }),
    ...(cap && { maxPricePerHour: Math.max(cap.perHour - cap.elsewhere, 0) }),
    ...Object.fromEntries(lists),
    instanceTypes: main[1] ?? [],
    ...(others.length > 0 && { otherInstanceTypes: Object.fromEntries(others) }),
  };
}

/** The first class with its instance types, then the classes whose types differ from it. */
function byUse(classes: readonly (readonly [string, readonly InstanceType[]])[]) {
  const [first, ...others] = classes;
  return first === undefined ? [] : [first, ...others.filter(([, types]) => types !== first[1])];
}

function cut(value: unknown, fields: Fields): unknown {
  if (Array.isArray(value)) return value.map((item) => cut(item, fields));
  if (typeof value !== "object" || value === null) return value;
  const kept: [string, unknown][] = [];
  for (const [name, inner] of Object.entries(fields)) {
    const given = (value as Readonly<Record<string, unknown>>)[name];
    if (given === undefined || given === null) continue;
    kept.push([name, inner === true ? (name === "annotations" ? decisive(given) : given) : cut(given, inner)]);
  }
  return Object.fromEntries(kept);
}

function decisive(annotations: unknown): unknown {
  return Object.fromEntries(Object.entries(annotations as Readonly<Record<string, string>>).filter(([key]) => READ_ANNOTATIONS.test(key)));
}

/** User data often hold secrets, so a hash replaces them: it shows whether they have changed. */
function withoutUserData(nodeClass: EC2NodeClass): EC2NodeClass {
  const { userData } = nodeClass.spec;
  return userData === undefined
    ? nodeClass
    : { ...nodeClass, spec: { ...nodeClass.spec, userData: `left out (${contentHash(userData)})` } };
}
