import { beforeAll, expect, it } from "vitest";
import { COURSES } from "../../versus/courses/all.ts";
import { type Course, type Phase, playCourse, total } from "./course.ts";
import { playVersusCourse } from "./courses.ts";

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
