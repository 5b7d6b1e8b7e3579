import { expect, it } from "vitest";
import { conditionOf } from "#core/model/conditions.ts";
import type { Condition } from "#core/model/kubernetes.ts";
import type { Lab } from "#lab/host.ts";
import type { ApiObject } from "#manifests/api-object.ts";
import { deployment, NODE_CLASS } from "../simulation/story.ts";
import { MINUTE, POOL, pass, ready, running, scale } from "../support/lab-story.ts";

const eventsOf = (lab: Lab, kind: string): readonly string[] =>
  lab.world.events.filter(({ about }) => about.kind === kind).map(({ reason, message }) => `${reason}: ${message}`);
const count = (list: readonly string[], part: string): number => list.filter((text) => text.includes(part)).length;

function drifted(lab: Lab, kind: string): Condition | undefined {
  const [object] = lab.world.store.list(kind) as readonly (ApiObject & {
    readonly status?: { readonly conditions?: readonly Condition[] };
  })[];
  return conditionOf(object?.status?.conditions, "Drifted");
}

it("each change of a condition in a node's life is told once, and so is each finalizer that goes", async () => {
  const lab = await running(1);
  scale(lab, 0);
  await pass(lab, 6 * MINUTE);
  const claim = eventsOf(lab, "NodeClaim");
  for (const type of ["Launched", "Registered", "Initialized", "Ready"])
    expect(count(claim, `${type}: Status condition transitioned, Type: ${type}, Status: Unknown -> True, Reason: ${type}`)).toBe(1);
  expect(count(claim, "Finalized: Finalized karpenter.sh/termination")).toBe(1);
  expect(count(eventsOf(lab, "Node"), "Finalized: Finalized karpenter.sh/termination")).toBe(1);
  const transitions = count(eventsOf(lab, "NodePool"), "Status condition transitioned");
  await pass(lab, 10 * MINUTE);
  expect(count(eventsOf(lab, "NodePool"), "Status condition transitioned")).toBe(transitions);
  lab.close();
});

it("NodePool and EC2NodeClass tell how far a change has come, from the change on and until the last node is replaced", async () => {
  const big = deployment(3, { cpu: "7" });
  const lab = await ready([NODE_CLASS, POOL, big]);
  await pass(lab, 3 * MINUTE);
  expect(drifted(lab, "NodePool")?.status).toBe("False");
  const spec = NODE_CLASS["spec"] as object;
  lab.world.apply({ ...NODE_CLASS, spec: { ...spec, detailedMonitoring: true } });
  const seen: string[] = [];
  for (let i = 0; i < 180; i++) {
    await pass(lab, 5_000);
    const { status, message = "", observedGeneration } = drifted(lab, "EC2NodeClass") ?? {};
    const text = `${observedGeneration} ${status} ${message}`;
    if (seen.at(-1) !== text) seen.push(text);
  }
  const after = seen.slice(seen.findIndex((text) => text.startsWith("2 ")));
  expect(after[0]).toMatch(/^2 True [1-9] of \d NodeClaims have drifted: NodeClassDrift [1-9]$/);
  expect(after.at(-1)).toBe("2 False ");
  expect(after.filter((text) => text === "2 False ")).toHaveLength(1);
  expect(drifted(lab, "NodePool")?.status).toBe("False");
  lab.close();
});

it("a pod's time of protection is told, and its end", async () => {
  const protectedFor = deployment(1, { cpu: "1" });
  const spec = protectedFor["spec"] as { readonly template: { readonly metadata: object } };
  const annotations = { "karpenter.sh/do-not-disrupt": "10m" };
  const template = { ...spec.template, metadata: { ...spec.template.metadata, annotations } };
  const lab = await ready([NODE_CLASS, POOL, { ...protectedFor, spec: { ...spec, template } }]);
  await pass(lab, 30 * MINUTE);
  const pod = eventsOf(lab, "Pod");
  expect(pod.filter((text) => text.startsWith("DoNotDisruptUntil: "))).toEqual([
    expect.stringMatching(/^DoNotDisruptUntil: The karpenter\.sh\/do-not-disrupt grace period will elapse at 2026-01-01T00:1\d:\d\dZ$/),
  ]);
  expect(
    count(pod, "DoNotDisruptGracePeriodElapsed: The karpenter.sh/do-not-disrupt grace period has elapsed, pod is now disruptable"),
  ).toBe(1);
  lab.close();
});

it("a NodePool whose requirements leave no instance type says so while pods wait for it", async () => {
  const requirements = [{ key: "node.kubernetes.io/instance-type", operator: "In", values: ["none.large"] }];
  const spec = POOL["spec"] as { readonly template: { readonly spec: object } };
  const impossible = { ...POOL, spec: { ...spec, template: { spec: { ...spec.template.spec, requirements } } } };
  const lab = await ready([NODE_CLASS, impossible, deployment(1, { cpu: "1" })]);
  await pass(lab, 5 * MINUTE);
  const said = "NoCompatibleInstanceTypes: NodePool requirements filtered out all compatible available instance types";
  expect(count(eventsOf(lab, "NodePool"), said)).toBe(1);
  lab.close();
});

it("the log lines of one run have one reconcileID, and those of another run have another", async () => {
  const lab = await running(1);
  const idOf = (message: string) => lab.log.find((line) => line.message === message)?.fields["reconcileID"];
  expect(idOf("created nodeclaim")).toMatch(/^[0-9a-f-]{36}$/);
  expect(idOf("found provisionable pod(s)")).toBe(idOf("created nodeclaim"));
  expect(idOf("launched nodeclaim")).not.toBe(idOf("created nodeclaim"));
  lab.close();
});
