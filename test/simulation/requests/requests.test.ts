import { beforeAll, expect, it } from "vitest";
import { type Course, type Phase, playCourse, total } from "./course.ts";

let course: Course;
beforeAll(async () => {
  course = await playCourse();
});

function phase(name: string): Phase {
  const found = course.phases.find((one) => one.name === name);
  if (found === undefined) throw new Error(`the course has no phase ${name}`);
  return found;
}

it("to launch a NodeClaim its pass reads the NodeClaim and its class once, and writes what changes", () => {
  const { claims } = course;
  expect(phase("launch").kube["lifecycle"]).toEqual({
    ...{ "get NodeClaim": claims, "list Node": claims, "get EC2NodeClass": claims },
    // Two conditions of the status: launched, and then waiting for its node.
    ...{ "create NodeClaim": claims, "update NodeClaim": claims, "update NodeClaim/status": 2 * claims },
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

it("five quiet minutes cost a few lists a minute, whatever runs", () => {
  const { seconds, kube } = phase("keep");
  expect(total(kube) / (seconds / 60)).toBeLessThan(60);
});
