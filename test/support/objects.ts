/*
 * The one module that states the shape of each noun in tests. A builder takes a name and an options object and returns
 * a valid object of `core/model`; a field that the options leave out gets the plainest value. Presets for one area (the
 * claim of a lifecycle test, the catalogue of a scheduling test) stand in the `builders.ts` of that area. Scenarios,
 * plans and expected answers do not belong here.
 */
import type { InstanceType, Offering } from "#core/model/instance-type.ts";
import type { Condition, ResourceList } from "#core/model/kubernetes.ts";
import type { Node } from "#core/model/node.ts";
import type { NodeClaim } from "#core/model/node-claim.ts";
import type { NodeClaimRecord } from "#core/model/node-claim-record.ts";
import type { NodeOverlay, NodeOverlaySpec } from "#core/model/node-overlay.ts";
import type { NodePool, NodePoolSpec } from "#core/model/node-pool.ts";
import type { Pod } from "#core/model/pod.ts";
import type { Taint } from "#core/model/taint.ts";
import type { DaemonSet, PodDisruptionBudget } from "#core/model/workloads.ts";

/** Fields of an object that replace what the builder would write. */
interface Fields<T extends { readonly metadata: object; readonly spec?: object; readonly status?: object | undefined }> {
  readonly metadata?: Partial<T["metadata"]>;
  readonly spec?: Partial<T["spec"]> | undefined;
  readonly status?: Partial<NonNullable<T["status"]>> | undefined;
}

export const NODE_CLASS_REF = { group: "karpenter.k8s.aws", kind: "EC2NodeClass", name: "default" } as const;

/** A condition that is True, with the fields of metav1.Condition or only those that the reader of the test needs. */
export function condition(type: string, more: Partial<Condition> = {}): Condition {
  return { type, status: "True", ...more };
}

/** A condition with all required fields of metav1.Condition. */
export function fullCondition(type: string, lastTransitionTime: string, more: Partial<Condition> = {}): Condition {
  return condition(type, { reason: type, message: "", lastTransitionTime, ...more });
}

const ready = (isReady: boolean): Condition => condition("Ready", { status: isReady ? "True" : "False" });

/** A workload's container that requests resources. */
const container = (requests: ResourceList) => ({ name: "main", resources: { requests } });

/**
 * A pod of the namespace "default". With a `nodeName` it is Running; without one it is Pending, and kube-scheduler has
 * marked it Unschedulable. Without `requests` it has no containers.
 */
export function pod(
  name: string,
  { requests, nodeName, metadata, spec, status }: Fields<Pod> & { readonly requests?: ResourceList; readonly nodeName?: string } = {},
): Pod {
  return {
    metadata: { name, namespace: "default", uid: `uid-${name}`, ...metadata },
    spec: {
      ...(requests && { containers: [container(requests)] }),
      ...(nodeName && { nodeName }),
      ...spec,
    },
    status: nodeName
      ? { phase: "Running", ...status }
      : { phase: "Pending", conditions: [{ type: "PodScheduled", status: "False", reason: "Unschedulable" }], ...status },
  };
}

/** A node that is Ready unless `ready` is false; its `resources` are its capacity and its allocatable. */
export function node(
  name: string,
  options: Fields<Node> & {
    readonly providerID: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly taints?: readonly Taint[] | undefined;
    readonly resources?: ResourceList;
    readonly ready?: boolean;
  },
): Node {
  const { providerID, labels, taints, resources, metadata, spec, status } = options;
  return {
    metadata: { name, ...(labels && { labels }), ...metadata },
    spec: { providerID, ...(taints && { taints }), ...spec },
    status: { ...(resources && { capacity: resources, allocatable: resources }), conditions: [ready(options.ready !== false)], ...status },
  };
}

/** A NodeClaim of the EC2NodeClass "default" without requirements; with a `providerID` it has an instance. */
export function nodeClaim(
  name: string,
  options: Fields<NodeClaim> & {
    readonly uid: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly providerID?: string | undefined;
    readonly conditions?: readonly Condition[];
  },
): NodeClaim {
  const { uid, labels, providerID, conditions, metadata, spec, status } = options;
  return {
    metadata: { name, uid, ...(labels && { labels }), ...metadata },
    spec: { requirements: [], nodeClassRef: NODE_CLASS_REF, ...spec },
    status: { ...(providerID !== undefined && { providerID }), ...status, ...(conditions && { conditions }) },
  };
}

/** A NodePool that is Ready, of the EC2NodeClass "default"; `template` sets fields of its NodeClaims. */
export function nodePool(
  name: string,
  options: {
    readonly uid: string;
    readonly labels?: Readonly<Record<string, string>> | undefined;
    readonly template?: Partial<NodePoolSpec["template"]["spec"]>;
    readonly spec?: Partial<NodePoolSpec>;
  },
): NodePool {
  const { uid, labels, template, spec } = options;
  return {
    metadata: { name, uid },
    spec: {
      template: {
        ...(labels && { metadata: { labels } }),
        spec: { requirements: [], nodeClassRef: NODE_CLASS_REF, ...template },
      },
      ...spec,
    },
    status: { conditions: [ready(true)] },
  };
}

/** A NodeOverlay of generation 1; without requirements it applies to every instance type. */
export function nodeOverlay(name: string, { spec }: { readonly spec?: Partial<NodeOverlaySpec> } = {}): NodeOverlay {
  return {
    apiVersion: "karpenter.sh/v1alpha1",
    kind: "NodeOverlay",
    metadata: { name, generation: 1 },
    spec: { requirements: [], ...spec },
  };
}

/** Spot capacity costs this share of the price on demand. */
const SPOT_SHARE = 0.4;

/** Available offerings of each zone: on demand for `price` (USD per hour), and spot for 40 % of it. */
export function offerings(zones: readonly string[], price: number): readonly Offering[] {
  return zones.flatMap((zone): Offering[] => [
    { zone, capacityType: "on-demand", price, available: true },
    { zone, capacityType: "spot", price: price * SPOT_SHARE, available: true },
  ]);
}

/** An instance type whose first requirement is its own name. */
export function instanceType(
  name: string,
  options: Pick<InstanceType, "capacity" | "offerings"> & Partial<Pick<InstanceType, "requirements" | "overhead">>,
): InstanceType {
  const { requirements = [], capacity, overhead = {}, offerings: offered } = options;
  return {
    name,
    requirements: [{ key: "node.kubernetes.io/instance-type", operator: "In", values: [name] }, ...requirements],
    capacity,
    overhead,
    offerings: offered,
  };
}

/** The record of an intent of the NodePool "default" that has been written and not yet been launched. */
export function record(name: string, options: { readonly now: number; readonly manifest: NodeClaimRecord["manifest"] }): NodeClaimRecord {
  const { now, manifest } = options;
  return {
    cluster: "c1",
    name,
    version: 1,
    intentId: "intent-1",
    nodePool: "default",
    manifest,
    reason: "provisioned",
    createdAt: now - 60_000,
    podUids: [],
    instanceTypes: ["m5.large"],
    pricePerHour: 0.096,
    launchAttempts: 0,
    dueAt: now,
  };
}

/** A PodDisruptionBudget over the pods with these labels in the namespace "default". */
export function pdb(
  name: string,
  options: { readonly matchLabels: Readonly<Record<string, string>>; readonly disruptionsAllowed: number },
): PodDisruptionBudget {
  const { matchLabels, disruptionsAllowed } = options;
  return {
    metadata: { name, namespace: "default" },
    spec: { selector: { matchLabels } },
    status: { disruptionsAllowed },
  };
}

/** A DaemonSet of the namespace "kube-system", with one container. */
export function daemonSet(name: string, options: { readonly requests: ResourceList; readonly spec?: Pod["spec"] }): DaemonSet {
  const { requests, spec } = options;
  return {
    metadata: { name, namespace: "kube-system", uid: `ds-${name}` },
    spec: { template: { spec: { containers: [container(requests)], ...spec } } },
  };
}
