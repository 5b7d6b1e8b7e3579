import { expect, it } from "vitest";
import type { NodeSelectorTerm } from "#core/model/pod.ts";
import { pendingPods } from "#core/scheduling/problem/pending-pods.ts";
import { boundPod, pod, snapshotOf } from "#test/support/scheduling/builders.ts";

const notOurs: NodeSelectorTerm = { matchExpressions: [{ key: "karpenter.sh/nodepool", operator: "DoesNotExist" }] };
const arm: NodeSelectorTerm = { matchExpressions: [{ key: "kubernetes.io/arch", operator: "In", values: ["arm64"] }] };

it.for([
  { name: "the only term", terms: [notOurs], isPlanned: false },
  {
    name: "every term",
    terms: [notOurs, { matchExpressions: [...(arm.matchExpressions ?? []), ...(notOurs.matchExpressions ?? [])] }],
    isPlanned: false,
  },
  { name: "the last of two OR-ed terms", terms: [arm, notOurs], isPlanned: true },
  { name: "the first of two OR-ed terms", terms: [notOurs, arm], isPlanned: true },
  { name: "no term", terms: [arm], isPlanned: true },
])("a pod that declines NodePools in $name is planned: $isPlanned", ({ terms, isPlanned }) => {
  const one = pod(
    "web",
    {},
    { affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: terms } } } },
  );
  const { pods, ignored } = pendingPods(snapshotOf({ pods: [one] }));
  expect(pods.length).toBe(isPlanned ? 1 : 0);
  expect(ignored.map(({ reason }) => reason)).toEqual(isPlanned ? [] : [""]);
});

it.for([
  { name: "of a pod that we did not plan for", plannedFor: [], others: [], isPlanned: false },
  { name: "of a pod that we planned for", plannedFor: ["uid-web"], others: [], isPlanned: true },
  {
    name: "of a pod that we planned for, while a pod of that node ends",
    plannedFor: ["uid-web"],
    others: [boundPod("victim", "n", { cpu: "1" }, {}, { deletionTimestamp: "2026-01-01T00:00:00Z" })],
    isPlanned: false,
  },
])("a nominated node $name lets the pod be planned: $isPlanned", ({ plannedFor, others, isPlanned }) => {
  const web = { ...pod("web"), status: { ...pod("web").status, nominatedNodeName: "n" } };
  const snapshot = snapshotOf({ pods: [web, ...others] }, { plannedFor: new Map(plannedFor.map((uid) => [uid, "default-x"])) });
  expect(pendingPods(snapshot).pods.length).toBe(isPlanned ? 1 : 0);
});
