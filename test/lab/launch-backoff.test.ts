import { expect, it } from "vitest";
import type { Lab } from "#lab/host.ts";
import type { ApiObject } from "#manifests/api-object.ts";
import { FAMILIES, NODE_CLASS, nodePool, ON_DEMAND } from "../simulation/story.ts";
import { alive, INFLATE, MINUTE, POOL, pass, ready, reasons, runningPods, SECOND, scale } from "../support/lab-story.ts";

const HOUR = 60 * MINUTE;
const bought = (lab: Lab): number => lab.cloud.machines().length;
const said = (lab: Lab, kind: string): readonly string[] =>
  lab.world.events.flatMap(({ about, message }) => (about.kind === kind ? [message] : []));

/** Taints a node as soon as it joins, as an agent does that no pod tolerates. */
function taint(lab: Lab, node: ApiObject): void {
  const { spec } = node as unknown as { readonly spec: { readonly taints?: readonly { readonly key: string }[] } };
  const taints = spec.taints ?? [];
  if (taints.some(({ key }) => key === "example.com/agent")) return;
  lab.world.apply({ ...node, spec: { ...spec, taints: [...taints, { key: "example.com/agent", effect: "NoSchedule" }] } } as ApiObject);
}

it("a NodePool whose nodes never register is tried ever more rarely, its pods are told, and the first node that registers ends it", async () => {
  let joinDelayMs = Number.POSITIVE_INFINITY;
  const lab = await ready([NODE_CLASS, POOL, INFLATE], { joinDelayMs: () => joinDelayMs });
  scale(lab, 2);
  await pass(lab, 3 * HOUR);
  expect(bought(lab)).toBeLessThanOrEqual(8);
  expect(reasons(lab)).toContain("LaunchBackOff");
  expect(said(lab, "NodePool")).toContainEqual(expect.stringContaining("no node of the last 2 tries has registered"));
  expect(said(lab, "Pod")).toContainEqual(expect.stringContaining("launches nothing until"));
  joinDelayMs = 0;
  await pass(lab, 65 * MINUTE);
  expect(runningPods(lab)).toBe(2);
  scale(lab, 60);
  await pass(lab, 3 * MINUTE);
  expect(runningPods(lab)).toBe(60);
  lab.close();
});

it("machines that end before they register are not bought again at once, and of the same pods three an hour at most", async () => {
  const lab = await ready([NODE_CLASS, POOL, INFLATE], { joinDelayMs: () => Number.POSITIVE_INFINITY });
  scale(lab, 2);
  for (let s = 0; s < 2 * HOUR; s += 20 * SECOND) {
    await pass(lab, 20 * SECOND);
    for (const { instance } of alive(lab)) lab.cloud.kill(instance.id);
  }
  expect(bought(lab)).toBeLessThanOrEqual(7);
  expect(said(lab, "Pod")).toContainEqual(expect.stringContaining("3 machines were bought for the pod within an hour"));
  lab.close();
});

it("nodes that expire before a pod runs on them are not bought again at once", async () => {
  const { spec } = POOL as unknown as { readonly spec: { readonly template: { readonly spec: object } } };
  const short = nodePool([ON_DEMAND, FAMILIES], { template: { spec: { ...spec.template.spec, expireAfter: "5m" } } });
  const lab = await ready([NODE_CLASS, short, INFLATE], { joinDelayMs: () => 5 * MINUTE });
  scale(lab, 2);
  await pass(lab, 2 * HOUR);
  expect(bought(lab)).toBeLessThanOrEqual(7);
  expect(reasons(lab)).toContain("ExpiresTooSoon");
  lab.close();
});

it("nodes that their pods cannot use, and that are removed as empty, are not bought again at once", async () => {
  const lab = await ready([NODE_CLASS, POOL, INFLATE]);
  scale(lab, 2);
  for (let s = 0; s < 2 * HOUR; s += 5 * SECOND) {
    await pass(lab, 5 * SECOND);
    for (const node of lab.world.store.list("Node")) taint(lab, node);
  }
  expect(bought(lab)).toBeLessThanOrEqual(10);
  expect(said(lab, "NodePool")).toContainEqual(expect.stringContaining("ended before a pod ran on them"));
  lab.close();
});

it("one machine of several that never registers holds up no other", async () => {
  let started = 0;
  const lab = await ready([NODE_CLASS, POOL, INFLATE], { joinDelayMs: () => (started++ === 0 ? Number.POSITIVE_INFINITY : 0) });
  scale(lab, 60);
  await pass(lab, 18 * MINUTE);
  expect(started).toBeGreaterThan(2);
  expect(runningPods(lab)).toBe(60);
  lab.close();
});

it("a NodePool whose nodes would expire before they serve launches nothing, and says so", async () => {
  const { spec } = POOL as unknown as { readonly spec: { readonly template: { readonly spec: object } } };
  const short = nodePool([ON_DEMAND, FAMILIES], { template: { spec: { ...spec.template.spec, expireAfter: "59s" } } });
  const lab = await ready([NODE_CLASS, short, INFLATE]);
  scale(lab, 2);
  await pass(lab, 10 * MINUTE);
  expect(bought(lab)).toBe(0);
  const [pool] = lab.world.store.list("NodePool") as readonly { readonly status?: { readonly conditions?: readonly object[] } }[];
  expect(pool?.status?.conditions).toContainEqual(expect.objectContaining({ type: "ValidationSucceeded", status: "False" }));
  expect(said(lab, "Pod")).toContainEqual(expect.stringContaining("ends before a node has started and served"));
  lab.close();
});
