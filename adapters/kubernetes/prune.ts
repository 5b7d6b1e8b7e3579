import { isDeepStrictEqual } from "node:util";
import type { Container, ContainerStatus } from "#core/model/pod.ts";
import type { Kind, Kinds } from "#core/ports/kubernetes.ts";

type ReadonlyFields = Readonly<Record<string, unknown>>;

/** What a list keeps of each object. Its resource version must stay. */
export type Keep = <K extends Kind>(kind: K, object: Kinds[K]) => Kinds[K];

const POD_METADATA = [
  ...["name", "namespace", "uid", "resourceVersion", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds"],
  ...["labels", "annotations", "ownerReferences"],
];
const POD_SPEC = [
  ...["nodeName", "nodeSelector", "affinity", "tolerations", "topologySpreadConstraints", "overhead", "resources", "resourceClaims"],
  ...["priority", "priorityClassName", "terminationGracePeriodSeconds", "schedulerName", "hostNetwork"],
];
const POD_STATUS = ["phase", "conditions", "nominatedNodeName", "startTime", "allocatedResources", "resources"];
const CONTAINER = ["name", "image", "resources", "ports", "restartPolicy"];
const VOLUME = ["name", "persistentVolumeClaim", "ephemeral"];
/** An annotation that holds the whole manifest. */
const LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration";

/** Kinds that are written back whole, so everything that a write would lose must stay. */
const WRITTEN_BACK: ReadonlySet<Kind> = new Set(["Node", "NodeClaim", "NodePool", "EC2NodeClass", "NodeOverlay", "CapacityBuffer"]);

/** Kinds whose lists are only read for their selectors; other fields are read by name. */
const SELECTORS: ReadonlySet<Kind> = new Set(["Service", "ReplicationController", "ReplicaSet", "StatefulSet"]);

function pick(object: ReadonlyFields, keys: readonly string[]): ReadonlyFields {
  const kept: Record<string, unknown> = {};
  for (const key of keys) {
    if (object[key] !== undefined) {
      kept[key] = object[key];
    }
  }
  return kept;
}

function without(object: ReadonlyFields, key: string): ReadonlyFields {
  const { [key]: _, ...rest } = object;
  return rest;
}

const each = (list: unknown, keys: readonly string[]): readonly ReadonlyFields[] =>
  (list as readonly ReadonlyFields[]).map((item) => pick(item, keys));

function prunedMetadata(metadata: ReadonlyFields): ReadonlyFields {
  const annotations = metadata["annotations"] as ReadonlyFields | undefined;
  return {
    ...without(metadata, "managedFields"),
    ...(annotations && LAST_APPLIED in annotations && { annotations: without(annotations, LAST_APPLIED) }),
  };
}

function prunedPodSpec(spec: ReadonlyFields): ReadonlyFields {
  return {
    ...pick(spec, POD_SPEC),
    containers: each(spec["containers"] ?? [], CONTAINER),
    ...(spec["initContainers"] !== undefined && { initContainers: each(spec["initContainers"], CONTAINER) }),
    // Secrets, config maps and projected tokens are most of a pod's volumes, and no decision depends on them.
    ...(spec["volumes"] !== undefined && {
      volumes: each(spec["volumes"], VOLUME).filter((volume) => volume["persistentVolumeClaim"] ?? volume["ephemeral"]),
    }),
  };
}

/** What containers hold, where it is not what they request: only a resize in place makes the two differ. */
function heldResources(statuses: unknown, containers: unknown): readonly ContainerStatus[] {
  const wanted = new Map(((containers ?? []) as readonly Container[]).map(({ name, resources }) => [name, resources?.requests ?? {}]));
  return ((statuses ?? []) as readonly ContainerStatus[]).flatMap(({ name, allocatedResources, resources }) => {
    const own = wanted.get(name) ?? {};
    const { requests = {} } = resources ?? { requests: own };
    const isSettled = isDeepStrictEqual([requests, allocatedResources ?? own], [own, own]);
    return isSettled ? [] : [{ name, ...(allocatedResources && { allocatedResources }), resources: { requests } }];
  });
}

function prunedPodStatus(status: ReadonlyFields, spec: ReadonlyFields): ReadonlyFields {
  const containerStatuses = heldResources(status["containerStatuses"], spec["containers"]);
  const initContainerStatuses = heldResources(status["initContainerStatuses"], spec["initContainers"]);
  return {
    ...pick(status, POD_STATUS),
    ...(containerStatuses.length > 0 && { containerStatuses }),
    ...(initContainerStatuses.length > 0 && { initContainerStatuses }),
  };
}

/**
 * The object with the fields that the core reads and, for kinds that are written back, all that a write must carry, so
 * that 50,000 pods fit in a function's memory. A pruned pod must never be written back; pods are only deleted and
 * evicted.
 */
export function pruned<K extends Kind>(kind: K, object: Kinds[K]): Kinds[K] {
  const json = object as unknown as ReadonlyFields;
  const metadata = json["metadata"] as ReadonlyFields;
  const spec = (json["spec"] ?? {}) as ReadonlyFields;
  let kept: ReadonlyFields;
  if (kind === "Pod") {
    kept = {
      metadata: prunedMetadata(pick(metadata, POD_METADATA)),
      spec: prunedPodSpec(spec),
      status: prunedPodStatus((json["status"] ?? {}) as ReadonlyFields, spec),
    };
  } else if (kind === "DaemonSet") {
    const template = spec["template"] as ReadonlyFields;
    kept = {
      metadata: prunedMetadata(metadata),
      spec: { selector: spec["selector"], template: { ...template, spec: prunedPodSpec(template["spec"] as ReadonlyFields) } },
    };
  } else if (SELECTORS.has(kind)) {
    kept = { metadata: pick(metadata, ["name", "namespace"]), spec: pick(spec, ["selector"]) };
  } else if (kind === "Node") {
    // The names of up to fifty images. They are not written back, because only the kubelet writes a node's status.
    const status = json["status"] as ReadonlyFields | undefined;
    kept = { ...json, metadata: without(metadata, "managedFields"), ...(status && { status: without(status, "images") }) };
  } else {
    kept = { ...json, metadata: WRITTEN_BACK.has(kind) ? without(metadata, "managedFields") : prunedMetadata(metadata) };
  }
  return kept as unknown as Kinds[K];
}
