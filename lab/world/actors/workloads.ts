import type { KubernetesObject } from "#core/model/kubernetes.ts";
import type { Node } from "#core/model/node.ts";
import type { Pod, PodSpec } from "#core/model/pod.ts";
import { hash } from "../random.ts";
import type { MutableObject } from "../store.ts";
import type { LabWorld } from "../world.ts";
import { debounced, isActive, isReady, isTerminal, isTerminating, nodesOf, podsOf } from "./actor.ts";
import { createPod, deletePod, setStatus, user, type Workload, workloads } from "./owned-pods.ts";
import { selectsNode, untolerated } from "./placement.ts";

const DELAY_MS = 20;

/**
 * The workload controllers (Deployment, ReplicaSet, StatefulSet, DaemonSet), as far as autoscaling depends on them;
 * jobs.ts has those of Job and CronJob.
 */
export function startWorkloads(world: LabWorld): void {
  const sync = debounced(world, "workload controllers", DELAY_MS, () => {
    const byOwner = Map.groupBy(podsOf(world), (p) => p.metadata.ownerReferences?.find((o) => o.controller)?.uid ?? "");
    const owned = (owner: KubernetesObject): readonly Pod[] => byOwner.get(owner.metadata.uid ?? "") ?? [];
    for (const deployment of workloads(world, "Deployment")) syncDeployment(world, deployment, owned);
    for (const set of workloads(world, "ReplicaSet")) syncReplicaSet(world, set, owned(set));
    for (const set of workloads(world, "StatefulSet")) syncStatefulSet(world, set, owned(set));
    for (const set of workloads(world, "DaemonSet")) syncDaemonSet(world, set, owned(set));
  });
  // A pod that was refused is tried again when there is a new PriorityClass.
  const kinds = new Set(["Deployment", "ReplicaSet", "StatefulSet", "DaemonSet", "Pod", "Node", "PriorityClass"]);
  world.onChange(({ kind, subresource }) => {
    if (kinds.has(kind) && (subresource !== "status" || kind === "Pod")) sync();
  });
}

/**
 * One ReplicaSet for each template. A rolling update replaces a quarter of the pods at a time, as the new pods become
 * ready.
 */
function syncDeployment(world: LabWorld, deployment: Workload, owned: (o: KubernetesObject) => readonly Pod[]): void {
  const { name, namespace, uid = "" } = deployment.metadata;
  const { template, selector, replicas = 1 } = deployment.spec;
  const suffix = hash(JSON.stringify(template)).toString(36);
  const setName = `${name}-${suffix}`;
  const sets = workloads(world, "ReplicaSet").filter((s) => s.metadata.ownerReferences?.some((o) => o.uid === uid));
  const current = sets.find((s) => s.metadata.name === setName);
  const labels = { ...template.metadata?.labels, "pod-template-hash": suffix };
  const old = sets.filter((s) => s !== current && (s.spec.replicas ?? 0) > 0);
  if (!current) {
    world.store.create(
      {
        apiVersion: "apps/v1",
        kind: "ReplicaSet",
        metadata: {
          name: setName,
          ...(namespace !== undefined && { namespace }),
          labels,
          ownerReferences: [{ apiVersion: "apps/v1", kind: "Deployment", name, uid, controller: true, blockOwnerDeletion: true }],
        },
        spec: {
          replicas: old.length === 0 ? replicas : Math.min(replicas, Math.ceil(replicas / 4)),
          selector: { ...selector, matchLabels: { ...selector?.matchLabels, "pod-template-hash": suffix } },
          template: { ...template, metadata: { ...template.metadata, labels } },
        },
      },
      user("deployment-controller"),
    );
    return;
  }
  const scaleTo = (set: Workload, count: number): void => {
    world.store.patch("ReplicaSet", set.metadata.name, namespace, user("deployment-controller"), (o: MutableObject) =>
      o.spec.replicas === count ? undefined : { ...o, spec: { ...o.spec, replicas: count } },
    );
  };
  const ready = owned(current).filter((p) => isReady(p) && isActive(p)).length;
  if (old.length === 0) scaleTo(current, replicas);
  else {
    scaleTo(current, Math.min(replicas, ready + Math.ceil(replicas / 4)));
    let excess = Math.max(0, old.reduce((sum, s) => sum + (s.spec.replicas ?? 0), 0) - Math.max(0, replicas - ready));
    for (const set of old) {
      const cut = Math.min(excess, set.spec.replicas ?? 0);
      if (cut > 0) scaleTo(set, (set.spec.replicas ?? 0) - cut);
      excess -= cut;
    }
  }
  setStatus(world, deployment, { replicas, readyReplicas: ready, availableReplicas: ready });
}

function syncReplicaSet(world: LabWorld, set: Workload, pods: readonly Pod[]): void {
  const active = pods.filter(isActive);
  const wanted = set.spec.replicas ?? 1;
  for (let i = active.length; i < wanted; i++) createPod(world, set, {});
  if (active.length > wanted) {
    for (const pod of toDelete(active).slice(0, active.length - wanted)) deletePod(world, pod, "replicaset-controller");
  }
  setStatus(world, set, { replicas: active.length, readyReplicas: active.filter(isReady).length });
}

/**
 * The order of deletion: unbound, pending, not ready, cheap to delete, on a crowded node, young (kubernetes:
 * pkg/controller/controller_utils.go, ActivePodsWithRanks.Less).
 */
function toDelete(pods: readonly Pod[]): Pod[] {
  const crowd = new Map<string, number>();
  for (const { spec } of pods) crowd.set(spec.nodeName ?? "", (crowd.get(spec.nodeName ?? "") ?? 0) + 1);
  const rank = (p: Pod): readonly number[] => [
    p.spec.nodeName ? 1 : 0,
    p.status?.phase === "Running" ? 1 : 0,
    isReady(p) ? 1 : 0,
    Number(p.metadata.annotations?.["controller.kubernetes.io/pod-deletion-cost"] ?? 0),
    -(crowd.get(p.spec.nodeName ?? "") ?? 0),
    -Date.parse(p.metadata.creationTimestamp ?? ""),
  ];
  return [...pods].sort((a, b) => {
    const [x, y] = [rank(a), rank(b)];
    for (const [i, value] of x.entries()) if (value !== y[i]) return value - (y[i] ?? 0);
    return 0;
  });
}

/** Creates ordinals in order, each after its predecessor is ready (unless Parallel), and deletes the highest first. */
function syncStatefulSet(world: LabWorld, set: Workload, pods: readonly Pod[]): void {
  const { name, namespace } = set.metadata;
  const start = set.spec.ordinals?.start ?? 0;
  const end = start + (set.spec.replicas ?? 1);
  const byName = new Map(pods.map((p) => [p.metadata.name, p]));
  const parallel = set.spec.podManagementPolicy === "Parallel";
  for (let i = start; i < end; i++) {
    const podName = `${name}-${i}`;
    const pod = byName.get(podName);
    if (pod && isTerminal(pod)) deletePod(world, pod, "statefulset-controller");
    if (!pod) {
      const volumes = (set.spec.volumeClaimTemplates ?? []).map((claim) => {
        const claimName = `${claim.metadata.name}-${podName}`;
        if (!world.store.get("PersistentVolumeClaim", claimName, namespace)) {
          const metadata = { name: claimName, ...(namespace !== undefined && { namespace }) };
          world.store.create(
            { apiVersion: "v1", kind: "PersistentVolumeClaim", metadata, spec: claim.spec, status: { phase: "Pending" } },
            user("statefulset-controller"),
          );
        }
        return { name: claim.metadata.name, persistentVolumeClaim: { claimName } };
      });
      const all = [...(set.spec.template.spec.volumes ?? []), ...volumes];
      createPod(world, set, {
        name: podName,
        labels: { "statefulset.kubernetes.io/pod-name": podName, "apps.kubernetes.io/pod-index": String(i) },
        ...(all.length > 0 && { spec: { volumes: all } }),
      });
    }
    if (!parallel && !(pod && isReady(pod) && isActive(pod))) break;
  }
  const ordinal = (p: Pod): number => Number(p.metadata.name.slice(name.length + 1));
  const surplus = pods.filter((p) => ordinal(p) < start || ordinal(p) >= end);
  const last = surplus.sort((a, b) => ordinal(b) - ordinal(a))[0];
  if (last && !isTerminating(last)) deletePod(world, last, "statefulset-controller");
  setStatus(world, set, { replicas: pods.length, readyReplicas: pods.filter(isReady).length });
}

const DAEMON_TOLERATIONS: NonNullable<PodSpec["tolerations"]> = [
  { key: "node.kubernetes.io/not-ready", operator: "Exists", effect: "NoExecute" },
  { key: "node.kubernetes.io/unreachable", operator: "Exists", effect: "NoExecute" },
  ...["disk-pressure", "memory-pressure", "pid-pressure", "unschedulable"].map(
    (name) => ({ key: `node.kubernetes.io/${name}`, operator: "Exists", effect: "NoSchedule" }) as const,
  ),
];

/** Keeps one pod on each node that the template selects and whose taints it tolerates. */
function syncDaemonSet(world: LabWorld, set: Workload, pods: readonly Pod[]): void {
  const { spec } = set.spec.template;
  const tolerations = [...(spec.tolerations ?? []), ...DAEMON_TOLERATIONS];
  const withTolerations: PodSpec = { ...spec, tolerations };
  const target = (pod: Pod): string | undefined => pod.spec.nodeName ?? pinnedNode(pod.spec);
  const served = new Map<string, Pod>();
  for (const pod of pods) {
    const node = target(pod);
    if (isTerminal(pod)) deletePod(world, pod, "daemon-set-controller");
    else if (node !== undefined) served.set(node, pod);
  }
  const wanted = new Set<string>();
  for (const node of nodesOf(world)) {
    const { name } = node.metadata;
    if (!selectsNode(withTolerations, node)) continue;
    // NoExecute evicts a running daemon; NoSchedule only keeps a new one away.
    const taint = untolerated(withTolerations, notYet(node.spec.taints));
    const pod = served.get(name);
    if (taint && (!pod || taint.effect === "NoExecute")) continue;
    wanted.add(name);
    if (!pod) createPod(world, set, { spec: { tolerations, affinity: pinnedTo(spec, name) } });
  }
  for (const [name, pod] of served) if (!wanted.has(name) && !isTerminating(pod)) deletePod(world, pod, "daemon-set-controller");
  setStatus(world, set, { desiredNumberScheduled: wanted.size, numberReady: pods.filter(isReady).length });
}

/** A node that is not ready gets its daemons, because they make it ready. */
const notYet = (taints: Node["spec"]["taints"]): Node["spec"]["taints"] => taints?.filter((t) => t.key !== "node.kubernetes.io/not-ready");

function pinnedTo(spec: PodSpec, node: string): NonNullable<PodSpec["affinity"]> {
  const field = { key: "metadata.name", operator: "In", values: [node] } as const;
  const terms = spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? [{}];
  const nodeSelectorTerms = terms.map((t) => ({ ...t, matchFields: [field] }));
  return {
    ...spec.affinity,
    nodeAffinity: { ...spec.affinity?.nodeAffinity, requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } },
  };
}

function pinnedNode(spec: PodSpec): string | undefined {
  const [term] = spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? [];
  return term?.matchFields?.find((f) => f.key === "metadata.name")?.values?.[0];
}
