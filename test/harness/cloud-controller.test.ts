import { expect, it } from "vitest";
import { endOfNodes, type WatchedNode } from "../e2e/cloud-controller.ts";

const ENDED = [{ id: "i-ended", zone: "us-west-2a" }];

interface NodeFacts {
  readonly id?: string;
  readonly ready?: string;
  readonly isHalted?: boolean;
  readonly isDeleting?: boolean;
}

const node = ({ id = "i-ended", ready = "Unknown", isHalted = true, isDeleting = false }: NodeFacts): WatchedNode => ({
  metadata: {
    name: "ip-10-0-0-4",
    annotations: isHalted ? { "testcluster/kubelet": "stopped" } : {},
    ...(isDeleting && { deletionTimestamp: "2026-03-01T12:00:00Z" }),
  },
  spec: { providerID: `aws:///us-west-2a/${id}` },
  status: { conditions: [{ type: "Ready", status: ready }] },
});

it.for<{ name: string; facts: NodeFacts; want: ReturnType<typeof endOfNodes> }>([
  { name: "whose instance has ended is deleted once its kubelet is silent", facts: {}, want: { remove: ["ip-10-0-0-4"], halt: [] } },
  { name: "whose instance has ended stays while it counts as Ready", facts: { ready: "True" }, want: { remove: [], halt: [] } },
  {
    name: "that joined while its instance ended is halted",
    facts: { ready: "True", isHalted: false },
    want: { remove: [], halt: ["ip-10-0-0-4"] },
  },
  { name: "that is being deleted is left to its finalizers", facts: { isDeleting: true }, want: { remove: [], halt: [] } },
  { name: "whose instance runs stays, although its kubelet is silent", facts: { id: "i-runs" }, want: { remove: [], halt: [] } },
])("a Node $name", ({ facts, want }) => {
  expect(endOfNodes([node(facts)], ENDED)).toEqual(want);
});
