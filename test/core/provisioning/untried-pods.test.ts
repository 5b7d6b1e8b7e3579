import { expect, it } from "vitest";
import type { Pod } from "#core/model/pod.ts";
import { withUntriedPods } from "#core/provisioning/untried-pods.ts";
import { pendingPods } from "#core/scheduling/solve.ts";
import { snapshotOf } from "../../support/scheduling/builders.ts";

const GIVEN_UP = { conditions: [{ type: "PodScheduled", status: "False", reason: "Unschedulable" }] } as const;
const GATED = { conditions: [{ type: "PodScheduled", status: "False", reason: "SchedulingGated" }] } as const;

interface Given {
  readonly owner?: string;
  readonly status?: Pod["status"];
  readonly nodeName?: string;
  readonly deleting?: true;
}

const pod = (name: string, { owner, status, nodeName, deleting }: Given): Pod => ({
  metadata: {
    name,
    namespace: "default",
    uid: name,
    creationTimestamp: "2026-01-01T09:00:00Z",
    ...(deleting && { deletionTimestamp: "2026-01-01T09:00:00Z" }),
    ...(owner !== undefined && {
      ownerReferences: [{ apiVersion: "apps/v1", kind: "ReplicaSet", name: owner, uid: owner, controller: true }],
    }),
  },
  spec: { containers: [], ...(nodeName !== undefined && { nodeName }) },
  ...(status && { status }),
});

it.for<{ what: string; other: Given; counts: boolean }>([
  { what: "of the same controller that kube-scheduler has not tried yet", other: { owner: "web" }, counts: true },
  { what: "of another controller", other: { owner: "api" }, counts: false },
  { what: "without a controller", other: {}, counts: false },
  { what: "with scheduling gates", other: { owner: "web", status: GATED }, counts: false },
  { what: "that is bound", other: { owner: "web", nodeName: "n1" }, counts: false },
  { what: "that is being deleted", other: { owner: "web", deleting: true }, counts: false },
  { what: "that waits for a preemption", other: { owner: "web", status: { nominatedNodeName: "n1" } }, counts: false },
])("beside a pod that was given up, a pod $what is planned for: $counts", ({ other, counts }) => {
  const seen = withUntriedPods(snapshotOf({ pods: [pod("first", { owner: "web", status: GIVEN_UP }), pod("other", other)] }));
  expect(pendingPods(seen).pods.map(({ metadata }) => metadata.name)).toEqual(counts ? ["first", "other"] : ["first"]);
});

it("nothing is assumed of pods whose controller's pods have all been placed so far", () => {
  const before = snapshotOf({ pods: [pod("placed", { owner: "web", nodeName: "n1" }), pod("new", { owner: "web" })] });
  expect(withUntriedPods(before)).toBe(before);
});
