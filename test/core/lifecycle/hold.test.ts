import { expect, it } from "vitest";
import { advance } from "../../../core/lifecycle/advance.ts";
import { UNREGISTERED_TAINT } from "../../../core/model/labels.ts";
import type { Node } from "../../../core/model/node.ts";
import type { Taint } from "../../../core/model/taint.ts";
import { at, INSTANCE, NOW, node, nodeClaim, record, view } from "../../support/builders.ts";

const NOT_READY: Taint = { key: "node.kubernetes.io/not-ready", effect: "NoSchedule" };

/** A node that has joined `seconds` ago. */
function joined({ ready = false, taints = [UNREGISTERED_TAINT] as readonly Taint[], seconds = 1 }): Node {
  const made = node("joined");
  return {
    ...made,
    metadata: { ...made.metadata, creationTimestamp: at(seconds) },
    spec: { ...made.spec, taints },
    status: { ...made.status, conditions: [{ type: "Ready", status: ready ? "True" : "False" }] },
  };
}

const HELD = record({ uid: "uid-1", instance: INSTANCE, launchedAt: NOW - 30_000, podUids: ["u"], heldFor: ["default/p"] });
const { heldFor: _, ...ALONE } = HELD;
const step = (one: Node, of = HELD) =>
  advance(view({ record: of, claim: nodeClaim({ conditions: ["Launched"] }), nodes: [one], instance: "gone" }));
const types = (...given: Parameters<typeof step>): readonly string[] => step(...given).actions.map(({ type }) => type);

it.for([
  { name: "that is not Ready yet", one: joined({}), want: [] },
  { name: "that still has a taint of its start", one: joined({ ready: true, taints: [UNREGISTERED_TAINT, NOT_READY] }), want: [] },
  { name: "that is Ready", one: joined({ ready: true }), want: ["NominatePods", "WriteNode"] },
  { name: "that is not Ready after 20 s", one: joined({ seconds: 20 }), want: ["WriteNode"] },
])("a node $name, and that starts together with others, takes the steps $want", ({ one, want }) => {
  expect(types(one)).toEqual(want);
});

it("a node that starts alone is registered as soon as it joins", () => {
  expect(types(joined({}), ALONE)).toEqual(["WriteNode"]);
});

it("a node that pods may come to already is not held", () => {
  expect(types(joined({ taints: [] }))).toContain("WriteNode");
});

it("a node that is held is looked at again in two seconds, and when its time is over", () => {
  expect(step(joined({})).wakeAt).toBe(NOW + 2_000);
  expect(step(joined({ seconds: 19 })).wakeAt).toBe(NOW + 1_000);
});

it("the pods are nominated before the taint is removed", () => {
  const [first, second] = step(joined({ ready: true })).actions;
  expect(first).toEqual({ type: "NominatePods", pods: ["default/p"], uids: ["u"], node: joined({}).metadata.name });
  expect(second).toMatchObject({ type: "WriteNode", node: { spec: { taints: [] } } });
});
