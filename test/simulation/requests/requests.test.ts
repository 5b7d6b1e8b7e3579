import { beforeAll, expect, it } from "vitest";
import { createLab } from "#lab/host.ts";
import { COURSES } from "../../versus/courses/all.ts";
import { CATALOGUE, deployment, NODE_CLASS, nodePool, ON_DEMAND, START } from "../story.ts";
import { type Course, type Phase, playCourse, requestCounter, total } from "./course.ts";
import { playVersusCourse } from "./courses.ts";

const HOUR = 3_600_000;

let course: Course;
beforeAll(async () => {
  course = await playCourse();
});

function phase(name: string): Phase {
  const found = course.phases.find((one) => one.name === name);
  if (found === undefined) throw new Error(`the course has no phase ${name}`);
  return found;
}

it("to launch NodeClaims of one plan their class is read once, and what changes is written", () => {
  const { claims } = course;
  expect(phase("launch").kube["lifecycle"]).toEqual({
    "get EC2NodeClass": 1,
    // That it has launched and that it waits for its node are one write.
    ...{ "create NodeClaim": claims, "update NodeClaim": claims, "update NodeClaim/status": claims },
    // It tells that Launched is True.
    "create Event": claims,
  });
});

it("where no pod has a volume and none selects namespaces, neither volumes nor namespaces are read", () => {
  const read = new Set(course.phases.flatMap(({ kube }) => Object.values(kube).flatMap((requests) => Object.keys(requests))));
  for (const kind of ["PersistentVolumeClaim", "PersistentVolume", "StorageClass", "CSINode", "Namespace"])
    expect(read).not.toContain(`list ${kind}`);
});

it("a node that boots is looked for every five seconds at most", () => {
  const { seconds, kube } = phase("register");
  const looks = kube["lifecycle"]?.["list Node"] ?? 0;
  // Events wake a pass besides: what joins, and what loses a taint.
  expect(looks).toBeLessThan(course.claims * (seconds / 5 + 8));
});

/** What a course of `npm run versus` costs in the lab, a tenth more than was measured. */
it.for([
  { name: "weights", most: 103 },
  { name: "burst-300", most: 114 },
  { name: "spot-interruption", most: 279 },
  { name: "to-zero", most: 248 },
  { name: "rolling-update", most: 254 },
  { name: "consolidate-after", most: 232 },
])("the course $name costs at most $most requests to the API server", async ({ name, most }) => {
  const course = COURSES.find((one) => one.name === name);
  const phases = course === undefined ? [] : await playVersusCourse(course);
  expect(phases.length).toBeGreaterThan(0);
  expect(phases.reduce((sum, { kube }) => sum + total(kube), 0)).toBeLessThanOrEqual(most);
});

it("a quiet hour with QUIET_SWEEPS costs each function what it asks to know that nothing has changed, and lists no records", async () => {
  const counter = requestCounter();
  const lab = createLab({
    ...{ seed: 1, start: START, region: "us-west-2", sources: ["notify"], catalogue: CATALOGUE, hooks: counter.hooks },
    settings: { quietSweeps: true },
  });
  const oneType = { key: "node.kubernetes.io/instance-type", operator: "In", values: ["m5.large"] };
  for (const object of [NODE_CLASS, nodePool([ON_DEMAND, oneType]), deployment(5, { cpu: "1500m" })]) lab.world.apply(object);
  await lab.world.clock.run({ until: lab.world.clock.now() + HOUR });
  counter.take();
  await lab.world.clock.run({ until: lab.world.clock.now() + HOUR });
  const { kube, table } = counter.take();
  lab.close();
  const { provision = {}, disruption = {}, lifecycle = {} } = kube;
  expect(provision["list Pod"]).toBe(60);
  expect(lifecycle).toEqual({ "list NodeClaim": 60, "list Node": 60 });
  // Each ten minutes a sweep looks for nodes that go without a record that says so; definitions matter to no plan.
  expect(provision["list Node"]).toBeLessThanOrEqual(7);
  expect(provision["list NodePool"]).toBeUndefined();
  expect(total({ disruption })).toBeLessThan(60 * 9);
  for (const calls of [table["provision"], table["disruption"], table["lifecycle"]]) expect(calls?.["list"]).toBeLessThanOrEqual(7);
}, 30_000);

it("a sweep of provisioning asks for pods that are not bound and for nodes, and for no more while none goes", () => {
  const { seconds, kube } = phase("keep");
  const { provision = {} } = kube;
  expect(Object.keys(provision).toSorted()).toEqual(["list Node", "list Pod"]);
  expect(provision["list Node"]).toBe(seconds / 60);
});

it("five quiet minutes cost a few lists a minute, whatever runs", () => {
  const { seconds, kube } = phase("keep");
  expect(total(kube) / (seconds / 60)).toBeLessThan(60);
});
