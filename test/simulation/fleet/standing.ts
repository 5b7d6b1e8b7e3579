import type { Instance } from "#core/model/instance.ts";
import type { NodeClaimRecord } from "#core/model/node-claim-record.ts";
import type { Pod } from "#core/model/pod.ts";
import type { Fleet } from "#core/ports/fleet.ts";
import type { Kind, Kinds, Kubernetes } from "#core/ports/kubernetes.ts";
import type { NodeClaimStore } from "#core/ports/node-claim-store.ts";
import { simulatedKubernetes } from "#lab/world/api-server.ts";
import type { PortCall } from "#lab/world/intercept.ts";
import { objectStore } from "#lab/world/store.ts";
import type { LabWorld } from "#lab/world/world.ts";
import { type ApiObject, frozen } from "#manifests/api-object.ts";
import { parseFieldSelector, parseLabelSelector } from "#manifests/selectors.ts";
import { bigClaim, bigClaimStatus, bigNode, bigPod, bigPodStatus, nodeName } from "../../adapters/kubernetes/big-cluster.ts";

/** Pods on each node that stands. Five fill it, so that no other pod finds room there. */
const PODS_PER_NODE = 5;
const REQUESTS = { cpu: "1550m", memory: "5Gi" };
/** The NodePool of these nodes. */
export const STANDING = "standing";
const TYPE = "m5.2xlarge";
/** A type that the catalogue has, because any other one is drift. */
const LABELS = {
  "karpenter.sh/nodepool": STANDING,
  "node.kubernetes.io/instance-type": TYPE,
  ...{ "karpenter.k8s.aws/instance-family": "m5", "karpenter.k8s.aws/instance-generation": "5" },
};
const SETTLED_MS = 86_400_000;
const USER = { user: "system:kube-controller-manager" };

/**
 * The part of a large cluster that stands still: full nodes with their NodeClaims, records and instances, which every
 * reading contains and no pod of the course can use. It has no kubelets and no controllers, which would take most of
 * the time of a run.
 */
export interface StandingNodes {
  /** The API server with these objects beside those of the lab. */
  around(kubernetes: Kubernetes): Kubernetes;
  fleet(fleet: Fleet): Fleet;
  record(table: NodeClaimStore): Promise<void>;
  /** Whether a call to the table is about one of these nodes, whose number no law knows. */
  isAbout(call: PortCall): boolean;
  /** The table without the records of these nodes, for laws that look at the lab alone. */
  hidden(table: NodeClaimStore): NodeClaimStore;
}

/** @param base the number of the first node: no two clusters of a stack have the same instances */
export function standingNodes(world: LabWorld, nodes: number, base: number): StandingNodes {
  const { clock, cluster } = world;
  const store = objectStore({ now: clock.now, touch: () => {} }, world.random.fork("standing"));
  const kubernetes = simulatedKubernetes({ ...world, store });
  const put = (kind: string, object: object, status: unknown): ApiObject => {
    const made = store.create({ ...object, kind, status } as unknown as ApiObject, USER);
    return store.update({ ...made, status } as ApiObject, { ...USER, subresource: "status" });
  };
  const labelled = <T extends { readonly metadata: { readonly labels?: Readonly<Record<string, string>> } }>(object: T): T => ({
    ...object,
    metadata: { ...object.metadata, labels: { ...object.metadata.labels, ...LABELS } },
  });
  const claims = Array.from({ length: nodes }, (_, i) => {
    const node = bigNode(base + i);
    put("Node", labelled(node), node.status);
    const claim = labelled(bigClaim(base + i));
    const { metadata } = claim;
    const annotations = { "karpenter-serverless/intent": `intent-${base + i}` };
    return put("NodeClaim", { ...claim, metadata: { ...metadata, annotations } }, bigClaimStatus(base + i));
  });
  const shape = bigPod(0, "");
  const containers = (shape.spec.containers ?? []).slice(0, 1).map((container) => ({ ...container, resources: { requests: REQUESTS } }));
  const pods = frozen(
    Array.from({ length: nodes * PODS_PER_NODE }, (_, i) => {
      const { metadata } = bigPod(i, "");
      const spec = { ...shape.spec, containers, nodeName: nodeName(base + (i % nodes)) };
      const own = { uid: `${cluster}-pod-${i}`, resourceVersion: String(i + 1), creationTimestamp: "2025-12-30T00:00:00Z" };
      return { apiVersion: "v1", kind: "Pod", metadata: { ...metadata, ...own }, spec, status: bigPodStatus(0, shape) } as unknown as Pod;
    }),
  );
  const podOf = new Map(pods.map((pod) => [pod.metadata.name, pod]));

  const instances: readonly Instance[] = claims.map((claim, i) => ({
    ...instanceOf(base + i),
    ...{ state: "running", launchedAt: clock.now() - SETTLED_MS },
    tags: {
      ...{ "karpenter.sh/nodeclaim": claim.metadata.name, "eks:eks-cluster-name": cluster, "karpenter.sh/nodepool": STANDING },
      ...{ "karpenter.k8s.aws/ec2nodeclass": "default", "karpenter-serverless/claim-uid": claim.metadata.uid ?? "" },
    },
  }));
  const byId = new Map(instances.map((instance) => [instance.id, instance]));
  const names = new Set(claims.map(({ metadata }) => metadata.name));

  return {
    around: (own) => ({
      ...own,
      async get(kind, name, namespace) {
        if (kind === "Pod") return (podOf.get(name) as Kinds[typeof kind] | undefined) ?? own.get(kind, name, namespace);
        return (await kubernetes.get(kind, name, namespace)) ?? own.get(kind, name, namespace);
      },
      async list(kind, options) {
        const found = await own.list(kind, options);
        const more = kind === "Pod" ? (chosen(pods, options) as readonly Kinds[typeof kind][]) : await kubernetes.list(kind, options);
        return more.length === 0 ? found : [...more, ...found];
      },
      update: (kind, object) => (isStanding(kind, object.metadata.name) ? kubernetes : own).update(kind, object),
      updateStatus: (kind, object) => (isStanding(kind, object.metadata.name) ? kubernetes : own).updateStatus(kind, object),
      delete: (kind, name, options) => (isStanding(kind, name) ? kubernetes : own).delete(kind, name, options),
    }),
    fleet: (fleet) => ({
      ...fleet,
      list: async (of) => [...(await fleet.list(of)), ...(of === cluster ? instances : [])],
      describe: async (ids) => [...(await fleet.describe(ids)), ...ids.flatMap((id) => byId.get(id) ?? [])],
    }),
    async record(table) {
      for (const [i, claim] of claims.entries()) await table.create(recordOf(base + i, claim));
    },
    isAbout({ port, method, args }) {
      if (port !== "store") return false;
      if (method === "update") return names.has((args[0] as NodeClaimRecord).name);
      return method === "isFirstWithin" && stands(String(args[1]));
    },
    hidden: (table) => ({ ...table, list: async (of, aside) => (await table.list(of, aside)).filter(({ name }) => !names.has(name)) }),
  };

  function isStanding(kind: Kind, name: string): boolean {
    return (kind === "Node" || kind === "NodeClaim") && store.get(kind, name) !== undefined;
  }

  /** Whether the mark of an event, "Kind/namespace/name/…", is about such a node. */
  function stands(mark: string): boolean {
    const [kind, , name = ""] = mark.split("/");
    return isStanding(kind as Kind, name);
  }

  function recordOf(i: number, { metadata }: ApiObject): NodeClaimRecord {
    return {
      ...{ cluster, name: metadata.name, version: 0, intentId: `intent-${i}`, uid: metadata.uid ?? "", nodePool: STANDING },
      ...{ manifest: labelled(bigClaim(i)), reason: "provisioned", createdAt: clock.now() - SETTLED_MS },
      ...{ launchedAt: clock.now() - SETTLED_MS, initializedAt: clock.now() - SETTLED_MS, podUids: [] },
      instanceTypes: Array.from({ length: 60 }, (_, type) => `m${type % 8}i.${type}xlarge`),
      ...{ pricePerHour: 0.4, launchPrice: 0.4, launchAttempts: 1, dueAt: Number.MAX_SAFE_INTEGER, nodeName: nodeName(i) },
      instance: instanceOf(i),
    } as NodeClaimRecord;
  }
}

function instanceOf(i: number) {
  const [zone = "", id = ""] = (bigClaimStatus(i).providerID ?? "").split("/").slice(-2);
  // An image that is not known is no drift.
  return { id, zone, instanceType: TYPE, capacityType: "on-demand", imageId: "" } as const;
}

type Selectors = Parameters<Kubernetes["list"]>[1];

function chosen(pods: readonly Pod[], { fieldSelector, labelSelector }: NonNullable<Selectors> = {}): readonly Pod[] {
  if (fieldSelector === undefined && labelSelector === undefined) return pods;
  const field = fieldSelector === undefined ? undefined : parseFieldSelector(fieldSelector);
  const label = labelSelector === undefined ? undefined : parseLabelSelector(labelSelector);
  return pods.filter((pod) => (field?.(pod as unknown as ApiObject) ?? true) && (label?.(pod.metadata.labels ?? {}) ?? true));
}
