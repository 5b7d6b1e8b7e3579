import { expect, it } from "vitest";
import type { Pod } from "#core/model/pod.ts";
import type { PodDisruptionBudget } from "#core/model/workloads.ts";
import { isCurrentlyReschedulable, pdbBlocking } from "#core/pods/disruption-budget.ts";
import { doNotDisruptUntil } from "#core/pods/do-not-disrupt.ts";
import { evictionCost } from "#core/pods/eviction-cost.ts";
import {
  isActive,
  isDaemonSetPod,
  isDrainable,
  isEvictable,
  isMirror,
  isProvisionable,
  isReschedulable,
  isWaiting,
  podUid,
  toleratesDisrupted,
} from "#core/pods/predicates.ts";

const NOW = Date.parse("2026-01-01T00:00:00Z");

function pod(part: { metadata?: Partial<Pod["metadata"]>; spec?: Pod["spec"]; status?: Pod["status"] } = {}): Pod {
  return {
    metadata: { name: "p", namespace: "default", labels: { app: "a" }, ...part.metadata },
    spec: { nodeName: "n", ...part.spec },
    status: { phase: "Running", ...part.status },
  };
}

function ownedBy(apiVersion: string, kind: string, deletionTimestamp?: string): Pod {
  return pod({
    metadata: { ownerReferences: [{ apiVersion, kind, name: "o", uid: "1" }], ...(deletionTimestamp ? { deletionTimestamp } : {}) },
  });
}

function pdb(name: string, spec: Partial<PodDisruptionBudget["spec"]> = {}, disruptionsAllowed = 0): PodDisruptionBudget {
  return {
    metadata: { name, namespace: "default" },
    spec: { selector: { matchLabels: { app: "a" } }, ...spec },
    status: { disruptionsAllowed },
  };
}

const annotated = (value: string, startTime?: string): Pod =>
  pod({ metadata: { annotations: { "karpenter.sh/do-not-disrupt": value } }, ...(startTime ? { status: { startTime } } : {}) });

it("a pod's owner is recognized", () => {
  expect(isDaemonSetPod(ownedBy("apps/v1", "DaemonSet"))).toBe(true);
  expect(isDaemonSetPod(ownedBy("example.com/v1", "DaemonSet"))).toBe(false);
  expect(isMirror(ownedBy("v1", "Node"))).toBe(true);
  expect(isReschedulable(ownedBy("apps/v1", "DaemonSet"))).toBe(false);
  expect(isReschedulable(ownedBy("apps/v1", "ReplicaSet", "2026-01-01T00:00:00Z"))).toBe(false);
  expect(isReschedulable(ownedBy("apps/v1", "StatefulSet", "2026-01-01T00:00:00Z"))).toBe(true);
});

const unschedulable = [{ type: "PodScheduled", status: "False" as const, reason: "Unschedulable" }];

it.for<{ name: string; part: Parameters<typeof pod>[0]; helped: boolean }>([
  { name: "is unschedulable", part: {}, helped: true },
  { name: "has a node", part: { spec: { nodeName: "n" } }, helped: false },
  { name: "kube-scheduler has not tried yet", part: { status: { conditions: [] } }, helped: false },
  {
    name: "is gated",
    part: { status: { conditions: [{ type: "PodScheduled", status: "False", reason: "SchedulingGated" }] } },
    helped: false,
  },
  { name: "has ended", part: { status: { phase: "Failed" } }, helped: false },
  { name: "is being deleted", part: { metadata: { deletionTimestamp: "2026-01-01T00:00:00Z" } }, helped: false },
  {
    name: "belongs to a DaemonSet",
    part: { metadata: { ownerReferences: [{ apiVersion: "apps/v1", kind: "DaemonSet", name: "d", uid: "d" }] } },
    helped: false,
  },
])("a new node helps a pod that $name: $helped", ({ part, helped }) => {
  const waiting = pod({
    ...part,
    spec: { nodeName: "", ...part?.spec },
    status: { phase: "Pending", conditions: unschedulable, ...part?.status },
  });
  expect(isProvisionable(waiting)).toBe(helped);
});

it("a pod is identified by its UID, or by its name without a UID", () => {
  expect(podUid(pod({ metadata: { uid: "u" } }))).toBe("u");
  expect(podUid(pod())).toBe("default/p");
});

it("a drain evicts pods that neither tolerate the taint, nor are stuck, nor are mirrors", () => {
  expect(isDrainable(pod(), NOW)).toBe(true);
  expect(isDrainable(ownedBy("v1", "Node"), NOW)).toBe(false);
  expect(isDrainable(pod({ metadata: { deletionTimestamp: "2025-12-31T23:59:30Z" } }), NOW)).toBe(true);
  expect(isDrainable(pod({ metadata: { deletionTimestamp: "2025-12-31T23:58:59Z" } }), NOW)).toBe(false);
  expect(isWaiting(pod({ status: { phase: "Succeeded" } }), NOW)).toBe(false);
  expect(isActive(pod({ status: { phase: "Failed" } }))).toBe(false);
});

it.for([
  { name: "everything", tolerations: [{ operator: "Exists" as const }], want: true },
  { name: "the key", tolerations: [{ key: "karpenter.sh/disrupted", operator: "Exists" as const }], want: true },
  { name: "the key by an absent value", tolerations: [{ key: "karpenter.sh/disrupted" }], want: true },
  { name: "another effect", tolerations: [{ operator: "Exists" as const, effect: "NoExecute" }], want: false },
  { name: "another value", tolerations: [{ key: "karpenter.sh/disrupted", value: "x" }], want: false },
])("a pod that tolerates $name tolerates the disrupted taint: $want", ({ tolerations, want }) => {
  expect(toleratesDisrupted(pod({ spec: { tolerations } }))).toBe(want);
  expect(isEvictable(pod({ spec: { tolerations } }), NOW)).toBe(!want);
});

it.for([
  { name: "true holds for ever", pod: annotated("true"), want: Number.POSITIVE_INFINITY },
  { name: "a duration counts from the start", pod: annotated("1h", "2025-12-31T23:30:00Z"), want: NOW + 1_800_000 },
  { name: "a duration runs out", pod: annotated("1h", "2025-12-31T23:00:00Z"), want: undefined },
  { name: "a pod that has not started keeps all of it", pod: annotated("10m"), want: NOW + 600_000 },
  { name: "an invalid value is ignored", pod: annotated("yes"), want: undefined },
  { name: "a duration of zero is ignored", pod: annotated("0s"), want: undefined },
  { name: "the value false is ignored", pod: annotated("false"), want: undefined },
])("do-not-disrupt: $name", ({ pod, want }) => {
  expect(doNotDisruptUntil(pod, NOW)).toBe(want);
});

it("the eviction cost grows with priority and deletion cost, within bounds", () => {
  const costing = (cost: string, priority = 0): number =>
    evictionCost(pod({ metadata: { annotations: { "controller.kubernetes.io/pod-deletion-cost": cost } }, spec: { priority } }));
  expect(evictionCost(pod())).toBe(1);
  expect(costing("134217728")).toBe(2);
  expect(costing("-2147483648")).toBe(-10);
  expect(costing("cheap")).toBe(1);
  expect(evictionCost(pod({ spec: { priority: 2_000_000_000 } }))).toBe(10);
});

it("the annotation disruption-cost goes before pod-deletion-cost, also where it does not parse", () => {
  const costing = (cost: string): number => {
    const annotations = { "karpenter.sh/disruption-cost": cost, "controller.kubernetes.io/pod-deletion-cost": "134217728" };
    return evictionCost(pod({ metadata: { annotations } }));
  };
  expect([costing("-67108864"), costing("dear")]).toEqual([0.5, 1]);
});

it.for([
  { name: "none", pdbs: [], want: undefined },
  { name: "one that allows an eviction", pdbs: [pdb("a", {}, 1)], want: undefined },
  { name: "one that allows none", pdbs: [pdb("a")], want: { kind: "spent", budgets: ["default/a"] } },
  { name: "two", pdbs: [pdb("a", {}, 1), pdb("b", {}, 1)], want: { kind: "multiple", budgets: ["default/a", "default/b"] } },
  { name: "another namespace's", pdbs: [{ ...pdb("a"), metadata: { name: "a", namespace: "x" } }], want: undefined },
  { name: "one for other pods", pdbs: [pdb("a", { selector: { matchLabels: { app: "b" } } })], want: undefined },
])("disruption budgets: $name", ({ pdbs, want }) => {
  expect(pdbBlocking(pod(), pdbs)).toEqual(want);
});

it("an unready pod may be evicted when its budget says so", () => {
  const unready = pod({ status: { conditions: [{ type: "Ready", status: "False" }] } });
  expect(pdbBlocking(unready, [pdb("a", { unhealthyPodEvictionPolicy: "AlwaysAllow" })])).toBeUndefined();
  expect(pdbBlocking(unready, [pdb("a")])).toBeDefined();
});

it("a pod that can never be evicted is not reschedulable", () => {
  expect(isCurrentlyReschedulable(pod(), [pdb("a")], NOW)).toBe(true);
  expect(isCurrentlyReschedulable(pod(), [pdb("a", { maxUnavailable: 0 })], NOW)).toBe(false);
  expect(isCurrentlyReschedulable(pod(), [pdb("a", { minAvailable: "100%" })], NOW)).toBe(false);
  expect(isCurrentlyReschedulable(pod(), [pdb("a"), pdb("b")], NOW)).toBe(false);
  expect(isCurrentlyReschedulable(annotated("true"), [], NOW)).toBe(false);
});

it.for([
  { name: "that is not ready leaves its node when the budget lets unhealthy pods go", policy: "AlwaysAllow", ready: "False", want: true },
  { name: "that is ready is held by such a budget", policy: "AlwaysAllow", ready: "True", want: false },
  { name: "that is not ready is held by another budget", policy: "IfHealthyBudget", ready: "False", want: false },
] as const)("a pod of a blocking budget $name", ({ policy, ready, want }) => {
  const held = pod({ status: { conditions: [{ type: "Ready", status: ready }] } });
  expect(isCurrentlyReschedulable(held, [pdb("a", { maxUnavailable: 0, unhealthyPodEvictionPolicy: policy })], NOW)).toBe(want);
});

it("a terminating pod of a StatefulSet leaves its node whatever its budget says, because nobody evicts it", () => {
  const leaving = pod({
    metadata: {
      deletionTimestamp: "2026-01-01T00:00:00Z",
      ownerReferences: [{ apiVersion: "apps/v1", kind: "StatefulSet", name: "db", uid: "db" }],
    },
  });
  expect(isCurrentlyReschedulable(leaving, [pdb("a", { maxUnavailable: 0 })], NOW)).toBe(true);
});
