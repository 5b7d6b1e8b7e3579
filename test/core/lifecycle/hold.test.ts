import { expect, it } from "vitest";
import { advance } from "#core/lifecycle/advance.ts";
import { uncordonOf } from "#core/lifecycle/hold.ts";
import type { Instance } from "#core/model/instance.ts";
import { UNREGISTERED_TAINT } from "#core/model/labels.ts";
import type { Node } from "#core/model/node.ts";
import type { NodeClaim } from "#core/model/node-claim.ts";
import type { NodeClaimRecord } from "#core/model/node-claim-record.ts";
import type { Taint } from "#core/model/taint.ts";
import { at, INSTANCE, NODE_NAME, NOW, node, nodeClaim, record, view } from "../../support/builders.ts";

const NOT_READY: Taint = { key: "node.kubernetes.io/not-ready", effect: "NoSchedule" };

/** A node that has joined `seconds` ago, and turned Ready `since` seconds ago. */
function joined({ name = NODE_NAME, ready = false, taints = [UNREGISTERED_TAINT] as readonly Taint[], seconds = 1, since = 0 }): Node {
  const made = node("joined");
  return {
    ...made,
    metadata: { ...made.metadata, name, creationTimestamp: at(seconds) },
    spec: { ...made.spec, taints },
    status: { ...made.status, conditions: [{ type: "Ready", status: ready ? "True" : "False", lastTransitionTime: at(since) }] },
  };
}

const HELD = record({ uid: "uid-1", instance: INSTANCE, launchedAt: NOW - 30_000, podUids: ["u"], heldFor: ["default/p"] });
const NAMED = { ...HELD, nodeName: NODE_NAME };
const { heldFor: _, ...ALONE } = HELD;
const LAUNCHED = nodeClaim({ conditions: ["Launched"] });
const deleted = (claim: NodeClaim): NodeClaim => ({ ...claim, metadata: { ...claim.metadata, deletionTimestamp: at(1) } });
const step = (one: Node, of: NodeClaimRecord = HELD, otherYoungNodes: readonly Node[] = []) =>
  advance(view({ record: of, claim: LAUNCHED, nodes: [one], instance: "gone", otherYoungNodes }));
const types = (...given: Parameters<typeof step>): readonly string[] => step(...given).actions.map(({ type }) => type);

it.for([
  { name: "that is not Ready yet", one: joined({}), want: [] },
  { name: "that still has a taint of its start", one: joined({ ready: true, taints: [UNREGISTERED_TAINT, NOT_READY] }), want: [] },
  { name: "that is Ready", one: joined({ ready: true }), want: ["WriteRecord"] },
  { name: "that is Ready and that the record names", one: joined({ ready: true }), of: NAMED, want: ["NominatePods", "WriteNode"] },
  { name: "that is not Ready after 20 s", one: joined({ seconds: 20 }), want: ["WriteNode"] },
])("a node $name, and that starts together with others, takes the steps $want", ({ one, of = HELD, want }) => {
  expect(types(one, of)).toEqual(want);
});

it("a node that starts alone is registered as soon as it joins", () => {
  expect(types(joined({}), ALONE)).toEqual(["WriteNode"]);
});

it("a node that pods may come to already is not held", () => {
  expect(types(joined({ taints: [] }))).toContain("WriteNode");
});

it("a node that is held is looked at again in two seconds, and when its time is over", () => {
  expect(step(joined({})).wakeAt).toBe(NOW + 2_000);
  expect(step(joined({ seconds: 19.5 })).wakeAt).toBe(NOW + 500);
});

const OPENS = ["NominatePods", "WriteNode"];
const READY = joined({ ready: true, seconds: 6 });

it.for([
  { name: "is not Ready yet", one: READY, other: joined({ name: "other" }), want: [] },
  { name: "has a taint of its start", one: READY, other: joined({ ready: true, taints: [UNREGISTERED_TAINT, NOT_READY] }), want: [] },
  { name: "takes pods already", one: READY, other: joined({ name: "other", taints: [] }), want: OPENS },
  { name: "joined 20 s ago and is not Ready", one: READY, other: joined({ name: "other", seconds: 20 }), want: OPENS },
  {
    name: "is not Ready 8 s after the node was",
    one: joined({ ready: true, seconds: 10, since: 8 }),
    other: joined({ name: "other" }),
    want: OPENS,
  },
  {
    name: "is not Ready, 20 s after the node joined with a clock that is ahead",
    one: joined({ ready: true, seconds: 20, since: -3_600 }),
    other: joined({ name: "other" }),
    want: OPENS,
  },
])("a node that is Ready, while another $name, takes the steps $want", ({ one, other, want }) => {
  expect(types(one, NAMED, [other])).toEqual(want);
});

it.for([
  { name: "waits for it", other: joined({ name: "other", ready: true, since: 2 }), want: ["UncordonTogether"] },
  { name: "takes pods already", other: joined({ name: "other", ready: true, taints: [] }), want: OPENS },
  { name: "has waited for 11 s", other: joined({ name: "other", ready: true, since: 11 }), since: 11, want: OPENS },
])("a node that is Ready, while another that is Ready $name, takes the steps $want", ({ other, since = 0, want }) => {
  expect(types(joined({ ready: true, seconds: 12, since }), NAMED, [other])).toEqual(want);
});

it("nodes that are Ready take pods together, and are looked at again in two seconds", () => {
  const [own, other] = [joined({ ready: true }), joined({ name: "other", ready: true })];
  expect(step(own, HELD, [other])).toMatchObject({ actions: [{ type: "UncordonTogether", nodes: [own, other] }], wakeAt: NOW + 2_000 });
});

it("no pass opens more than 20 nodes, and each node is in one part", () => {
  const nodes = Array.from({ length: 45 }, (_, i) => joined({ name: `n${String(i).padStart(2, "0")}`, ready: true }));
  const parts = nodes.map((one) => {
    const [action] = step(
      one,
      HELD,
      nodes.filter((other) => other !== one),
    ).actions;
    return action?.type === "UncordonTogether" ? action.nodes.map(({ metadata }) => metadata.name) : [];
  });
  expect(parts.every((part, i) => part.includes(`n${String(i).padStart(2, "0")}`))).toBe(true);
  expect([...new Set(parts.map((part) => part.join()))].map((part) => part.split(",").length)).toEqual([20, 20, 5]);
});

const INSTANCE_OF_IT = { ...INSTANCE, tags: {}, privateDnsName: `${NODE_NAME}.us-west-2.compute.internal` } as unknown as Instance;

it.for([
  { name: "is held", want: true },
  { name: "starts alone", of: ALONE, want: false },
  { name: "ends", of: { ...HELD, terminating: { reason: "expired" } } as NodeClaimRecord, want: false },
  { name: "was made again", of: { ...HELD, uid: "another" }, want: false },
  { name: "has another instance", of: { ...HELD, instance: { ...INSTANCE, id: "i-other" } }, want: false },
  { name: "has an instance of another name", instance: { ...INSTANCE_OF_IT, privateDnsName: "ip-10-9-9-9" }, want: false },
  { name: "is not known to be launched", claim: nodeClaim(), want: false },
  { name: "is being deleted", claim: deleted(LAUNCHED), want: false },
])("the node of a NodeClaim that $name is opened together with others: $want", ({ of = HELD, instance, claim = LAUNCHED, want }) => {
  const opening = uncordonOf(of, claim, joined({ ready: true }), instance ?? INSTANCE_OF_IT);
  expect(opening !== undefined).toBe(want);
  if (opening) expect(opening).toMatchObject({ pods: ["default/p"], uids: ["u"], node: { spec: { taints: [] } } });
});

it("the pods are nominated before the taint is removed", () => {
  const [first, second] = step(joined({ ready: true }), NAMED).actions;
  expect(first).toEqual({ type: "NominatePods", pods: ["default/p"], uids: ["u"], node: joined({}).metadata.name });
  expect(second).toMatchObject({ type: "WriteNode", node: { spec: { taints: [] } } });
});
