import { nearest } from "#core/lib/nearest.ts";
import { ownValue } from "#core/lib/own-value.ts";
import { manifestProblems } from "#manifests/check.ts";
import { fieldPath } from "#manifests/schema.ts";
import { InputError } from "#terminal/input-error.ts";

/** Lists of a scenario whose objects the schemas of the API can judge. */
const KINDS: Readonly<Record<string, { readonly apiVersion: string; readonly kind: string; readonly needs: readonly string[] }>> = {
  nodePools: { apiVersion: "karpenter.sh/v1", kind: "NodePool", needs: ["spec.template.spec.nodeClassRef"] },
  nodeOverlays: { apiVersion: "karpenter.sh/v1alpha1", kind: "NodeOverlay", needs: ["spec.requirements"] },
  nodes: { apiVersion: "v1", kind: "Node", needs: ["spec"] },
  nodeClaims: { apiVersion: "karpenter.sh/v1", kind: "NodeClaim", needs: ["spec"] },
  pods: { apiVersion: "v1", kind: "Pod", needs: ["spec.containers"] },
  daemonSets: { apiVersion: "apps/v1", kind: "DaemonSet", needs: ["spec.template.spec.containers"] },
  capacityBuffers: { apiVersion: "autoscaling.x-k8s.io/v1beta1", kind: "CapacityBuffer", needs: ["spec"] },
  podTemplates: { apiVersion: "v1", kind: "PodTemplate", needs: ["template.spec.containers"] },
  deployments: { apiVersion: "apps/v1", kind: "Deployment", needs: ["spec.template.spec"] },
  statefulSets: { apiVersion: "apps/v1", kind: "StatefulSet", needs: ["spec.template.spec"] },
  replicaSets: { apiVersion: "apps/v1", kind: "ReplicaSet", needs: ["spec.template.spec"] },
  services: { apiVersion: "v1", kind: "Service", needs: ["spec"] },
  replicationControllers: { apiVersion: "v1", kind: "ReplicationController", needs: ["spec"] },
  podDisruptionBudgets: { apiVersion: "policy/v1", kind: "PodDisruptionBudget", needs: ["spec"] },
  persistentVolumeClaims: { apiVersion: "v1", kind: "PersistentVolumeClaim", needs: ["spec"] },
  persistentVolumes: { apiVersion: "v1", kind: "PersistentVolume", needs: ["spec"] },
  storageClasses: { apiVersion: "storage.k8s.io/v1", kind: "StorageClass", needs: [] },
  csiNodes: { apiVersion: "storage.k8s.io/v1", kind: "CSINode", needs: ["spec.drivers"] },
  namespaces: { apiVersion: "v1", kind: "Namespace", needs: [] },
};

const OTHERS = ["name", "now", "maxPricePerHour", "savingsPlans", "instanceTypes", "schedulerConfig"];

/**
 * Throws InputError when a scenario holds what the API server would refuse. Fields that a plan does not need may be
 * missing. The shape of the lists themselves is checked in scenario.ts.
 */
export function checkScenario(scenario: unknown): unknown {
  if (typeof scenario !== "object" || scenario === null || Array.isArray(scenario)) return scenario;
  const known = [...Object.keys(KINDS), ...OTHERS];
  for (const [name, value] of Object.entries(scenario)) {
    // Other names may be notes of the author of the file.
    const near = known.includes(name) ? undefined : nearest(name, known);
    if (near !== undefined) throw new InputError(`${name} is no part of a scenario; did you mean "${near}"?`);
    if (Array.isArray(value)) for (const [i, item] of value.entries()) checkItem(name, item, i);
  }
  return scenario;
}

function checkItem(list: string, item: unknown, i: number): void {
  // scenario.ts checks that every item is an object with a name.
  const { name } = (item as { readonly metadata?: { readonly name?: unknown } } | null)?.metadata ?? {};
  if (typeof item !== "object" || item === null || typeof name !== "string") {
    if (list === "instanceTypes") checkType(item, i);
    return;
  }
  const rules = ownValue(KINDS, list);
  if (!rules) return;
  const { apiVersion, kind, needs } = rules;
  const where = `${list}[${i}] (${name})`;
  const found = manifestProblems({ ...item, apiVersion, kind }).find(({ message }) => !message.startsWith("is missing"));
  if (found) throw new InputError(`${where}: ${found.message.startsWith("spec.") ? "" : `${fieldPath(found.path)} `}${found.message}`);
  for (const path of needs) {
    const value = path.split(".").reduce<unknown>((o, key) => (o as Readonly<Record<string, unknown>> | undefined)?.[key], item);
    if (typeof value !== "object" || value === null) throw new InputError(`${where}: ${path} is missing; add it, the API requires it`);
  }
}

function checkType(item: unknown, i: number): void {
  const {
    name,
    offerings,
    requirements = [],
    capacity = {},
    overhead = {},
    volumePrice = 0,
  } = (item ?? {}) as Readonly<Record<string, unknown>>;
  const where = `instanceTypes[${i}] (${String(name)})`;
  for (const [field, value] of Object.entries({ capacity, overhead })) {
    if (typeof value !== "object" || value === null || Array.isArray(value)) throw new InputError(`${where}: ${field} must be a map`);
  }
  if (!Array.isArray(requirements) || requirements.some((one) => typeof one?.key !== "string" || typeof one?.operator !== "string")) {
    throw new InputError(`${where}: requirements must be a list of {key, operator, values}`);
  }
  if (typeof volumePrice !== "number" || volumePrice < 0) throw new InputError(`${where}: volumePrice must be USD per hour, 0 or more`);
  if (!Array.isArray(offerings)) return;
  for (const [j, offering] of offerings.entries()) {
    const { zone, capacityType, price } = (offering ?? {}) as Readonly<Record<string, unknown>>;
    if (typeof zone !== "string" || typeof capacityType !== "string" || typeof price !== "number") {
      throw new InputError(`${where}: offerings[${j}] needs a zone, a capacityType and a price in USD per hour`);
    }
  }
}
