import type { KubernetesObject, LabelSelector } from "#core/model/kubernetes.ts";
import type { Pod } from "#core/model/pod.ts";
import type { PodDisruptionBudget } from "#core/model/workloads.ts";
import { RefusedError } from "#core/ports/errors.ts";
import type { Kind, Kinds, Kubernetes } from "#core/ports/kubernetes.ts";
import { type ApiObject, frozen } from "#manifests/api-object.ts";
import { schemaProblems } from "#manifests/crd-schema.ts";
import { matchesSelector, parseFieldSelector, parseLabelSelector } from "#manifests/selectors.ts";
import { markDisrupted } from "./actors/actor.ts";
import type { MutableObject } from "./store.ts";
import type { LabWorld } from "./world.ts";

/** The user of the product's own calls. */
export const PRODUCT = "karpenter-serverless";

/**
 * The Kubernetes port over the object store. Its calls are asynchronous and take no virtual time; the interceptor adds
 * latency.
 */
export function simulatedKubernetes(world: LabWorld, user: string = PRODUCT): Kubernetes {
  const { store } = world;
  /** The store keeps plain JSON; the kind gives its type. */
  const as = <K extends Kind>(_kind: K, object: ApiObject): Kinds[K] => object as unknown as Kinds[K];
  const raw = (kind: Kind, object: KubernetesObject): ApiObject => ({ ...object, kind }) as ApiObject;

  return {
    async get(kind, name, namespace) {
      const found = store.get(kind, name, namespace);
      return found && as(kind, found);
    },
    async list(kind, { fieldSelector, labelSelector } = {}) {
      const field = fieldSelector === undefined ? undefined : parseFieldSelector(fieldSelector);
      const label = labelSelector === undefined ? undefined : parseLabelSelector(labelSelector);
      return store
        .list(kind)
        .filter((o) => (field?.(o) ?? true) && (label?.(o.metadata.labels ?? {}) ?? true))
        .map((o) => as(kind, o));
    },
    create: async (kind, object) => as(kind, store.create(valid(raw(kind, object)), { user })),
    update: async (kind, object) => as(kind, store.update(valid(raw(kind, object)), { user })),
    updateStatus: async (kind, object) => as(kind, store.update(valid(raw(kind, object)), { user, subresource: "status" })),
    async delete(kind, name, options = {}) {
      const isFound = store.delete(kind, name, options, { user });
      const left = isFound ? store.get(kind, name, options.namespace) : undefined;
      return left?.metadata.deletionTimestamp !== undefined && left.metadata.finalizers?.length ? as(kind, left) : isFound;
    },
    evict: async (pod) => evict(world, pod, user),
    nominate: async ({ metadata }, nodeName) => {
      const found = store.get("Pod", metadata.name, metadata.namespace);
      const pod = found as (ApiObject & Pod) | undefined;
      // The API server refuses to nominate a node for a pod that is bound.
      if (pod?.spec.nodeName) throw new RefusedError(`Pod "${metadata.name}" is invalid: it is bound already`);
      const { uid, resourceVersion } = metadata;
      const next = { kind: "Pod", ...pod, metadata: { ...metadata, ...pod?.metadata, uid, resourceVersion } };
      store.update({ ...next, status: { ...pod?.status, nominatedNodeName: nodeName } } as ApiObject, { user, subresource: "status" });
    },
    async publish(event) {
      world.events.push(frozen({ ...event, at: world.clock.now() }));
    },
    version: async () => world.version,
  };
}

/** The object, if its CustomResourceDefinition admits it; throws RefusedError as the API server answers 422. */
function valid(object: ApiObject): ApiObject {
  const { kind = "", metadata } = object;
  const [problem] = CUSTOM.has(kind) ? schemaProblems(kind, object) : [];
  if (problem !== undefined) throw new RefusedError(`${kind} "${metadata.name}" is invalid: ${problem.path.join(".")} ${problem.message}`);
  return object;
}

const CUSTOM: ReadonlySet<string> = new Set(["NodeClaim", "NodePool", "EC2NodeClass", "NodeOverlay", "CapacityBuffer"]);

/**
 * policy/v1 Eviction. A pod that does not run needs no PodDisruptionBudget; a pod with several budgets cannot be
 * evicted (kubernetes: pkg/registry/core/pod/storage/eviction.go, EvictionREST.Create).
 */
function evict(world: LabWorld, pod: Pod, user: string): "evicted" | "gone" | "blocked" {
  const { store } = world;
  const { name, namespace = "default", uid } = pod.metadata;
  const found = store.get("Pod", name, namespace) as (Pod & ApiObject) | undefined;
  if (!found || (uid !== undefined && uid !== found.metadata.uid)) return "gone";
  const go = (): "evicted" => {
    markDisrupted(world, found, user, "EvictionByEvictionAPI", "Eviction API: evicting");
    store.delete("Pod", name, { namespace }, { user, subresource: "eviction" });
    return "evicted";
  };
  const phase = found.status?.phase;
  if (phase === "Succeeded" || phase === "Failed" || phase === "Pending" || found.metadata.deletionTimestamp !== undefined) return go();

  const budgets = store.list("PodDisruptionBudget").filter((pdb) => {
    const { selector } = pdb.spec as { selector?: LabelSelector };
    return pdb.metadata.namespace === namespace && matchesSelector(selector, found.metadata.labels);
  }) as unknown as (Required<PodDisruptionBudget> & { status?: BudgetStatus })[];
  const [budget, second] = budgets;
  if (!budget) return go();
  if (second) return "blocked";
  const status = budget.status ?? {};
  const ready = found.status?.conditions?.some((c) => c.type === "Ready" && c.status === "True") ?? false;
  if (!ready) {
    if (budget.spec.unhealthyPodEvictionPolicy === "AlwaysAllow") return go();
    if ((status.desiredHealthy ?? 0) > 0 && (status.currentHealthy ?? 0) >= (status.desiredHealthy ?? 0)) return go();
  }
  if (status.observedGeneration !== budget.metadata.generation || (status.disruptionsAllowed ?? 0) <= 0) return "blocked";
  store.patch(
    "PodDisruptionBudget",
    budget.metadata.name,
    namespace,
    { user: "system:apiserver", subresource: "status" },
    (o: MutableObject) => ({
      ...o,
      status: { ...o.status, disruptionsAllowed: o.status.disruptionsAllowed - 1 },
    }),
  );
  return go();
}

interface BudgetStatus {
  readonly disruptionsAllowed?: number;
  readonly currentHealthy?: number;
  readonly desiredHealthy?: number;
  readonly observedGeneration?: number;
}
