import fc from "fast-check";
import { expect, it } from "vitest";
import { billOf } from "#core/insight/what-if/bill.ts";
import { type Course, rehearse } from "#core/insight/what-if/rehearse.ts";
import { rfc3339 } from "#core/model/conditions.ts";
import { DO_NOT_DISRUPT } from "#core/model/labels.ts";
import type { Snapshot } from "#core/model/snapshot.ts";
import { WITH_SOLVE } from "#test/support/disruption/with-solve.ts";
import { drawsOf } from "#test/support/effort.ts";
import { machine, NOW, nodePool, pdb, pod, snapshot } from "../../disruption/builders.ts";

const settings = { cluster: "c" };

/** "15 emptiness a,b", "0 purchase for 2": the second of each step, and what was done. */
function published({ steps }: Course): readonly string[] {
  return steps.map((step) => {
    const what =
      step.kind === "purchase"
        ? `purchase for ${step.pods}`
        : `${step.command.method} ${step.command.candidates.map(({ node }) => node).join()}`;
    return `${(step.at - NOW) / 1_000} ${what}`;
  });
}

const seconds = ({ settledAt }: Course): number => (settledAt - NOW) / 1_000;

it("empty nodes are removed after their validation and drain", () => {
  const course = rehearse(snapshot({ machines: [{ name: "a" }, { name: "b" }] }), { ...WITH_SOLVE, settings });
  expect(published(course)).toEqual(["15 emptiness a,b"]);
  expect(course).toMatchObject({ outcome: "settled", podsMoved: 0, stuck: [] });
  expect(seconds(course)).toBe(45);
  expect(course.end.nodes).toEqual([]);
});

it("a replacement is initialized before the nodes are removed, and gets their pods", () => {
  const start = snapshot({ machines: [{ name: "a" }, { name: "b" }], pods: [pod("p", "a"), pod("q", "b")] });
  const course = rehearse(start, { ...WITH_SOLVE, settings });
  expect(course.podsMoved).toBe(2);
  expect(seconds(course)).toBe(15 + 60 + 30);
  const [node, ...others] = course.end.nodes;
  expect(others).toEqual([]);
  expect(course.end.pods.map(({ spec }) => spec.nodeName)).toEqual([node?.metadata.name, node?.metadata.name]);
  expect(billOf(course.end).rows).toMatchObject([{ instanceType: "small", capacityType: "spot", nodes: 1 }]);
});

it("consolidateAfter counts from the last pod event, whatever the condition of the claim", () => {
  const pools = [nodePool("default", { consolidateAfter: "5m" })];
  const consolidatable = (status: "True" | "False") => [{ type: "Consolidatable", status, lastTransitionTime: rfc3339(NOW - 60_000) }];
  const machines = [
    { name: "a", lastPodEventTime: rfc3339(NOW - 60_000) },
    // Its consolidateAfter of five minutes ended a minute ago.
    { name: "b", conditions: consolidatable("True") },
    // Its last pod event was a minute ago, when its consolidateAfter of five minutes began.
    { name: "c", conditions: consolidatable("False") },
  ];
  const course = rehearse(snapshot({ pools, machines }), { ...WITH_SOLVE, settings });
  expect(published(course)).toEqual(["15 emptiness b", "255 emptiness a,c"]);
});

it("budgets bound how many nodes are removed at once", () => {
  const pools = [nodePool("default", { budgets: [{ nodes: "1" }] })];
  const course = rehearse(snapshot({ pools, machines: [{ name: "a" }, { name: "b" }, { name: "c" }] }), { ...WITH_SOLVE, settings });
  expect(published(course)).toEqual(["15 emptiness a", "60 emptiness b", "105 emptiness c"]);
});

it("a rehearsal waits for a budget within its look-ahead", () => {
  // NOW is noon.
  const pools = [nodePool("default", { budgets: [{ nodes: "0", schedule: "0 0 * * *", duration: "20h" }] })];
  const start = snapshot({ pools, machines: [{ name: "a" }] });
  expect(published(rehearse(start, { ...WITH_SOLVE, settings }))).toEqual([`${8 * 3_600 + 15} emptiness a`]);
  expect(rehearse(start, { ...WITH_SOLVE, settings, lookAheadMs: 3_600_000 })).toMatchObject({ outcome: "waiting", steps: [] });
});

it("pending pods get a node", () => {
  const course = rehearse(snapshot({ pods: [pod("p"), pod("q")] }), { ...WITH_SOLVE, settings });
  expect(published(course)).toEqual(["0 purchase for 2"]);
  expect(course.end.nodes).toHaveLength(1);
  expect(course.end.pods.every(({ spec }) => spec.nodeName === course.end.nodes[0]?.metadata.name)).toBe(true);
  expect(course.podErrors).toEqual({});
});

it("a course states why pods stay pending", () => {
  const course = rehearse(snapshot({ pods: [pod("p", undefined, { spec: { nodeSelector: { team: "blue" } } })] }), {
    ...WITH_SOLVE,
    settings,
  });
  expect(course.steps).toEqual([]);
  expect(course.podErrors["default/p"]).toContain("team=blue");
});

it("drifted nodes are replaced concurrently as budgets allow, at any price", () => {
  const drifted = "2025-12-31T12:00:00Z";
  const pools = [nodePool("default", { consolidateAfter: "Never", budgets: [{ nodes: "2" }] })];
  const machines = ["a", "b", "c"].map((name) => ({ name, type: "small", drifted }));
  const big = (name: string, node: string) =>
    pod(name, node, { spec: { containers: [{ name: "c", resources: { requests: { cpu: "3" } } }], nodeName: node } });
  const course = rehearse(snapshot({ pools, machines, pods: [big("p", "a"), big("q", "b"), big("r", "c")] }), { ...WITH_SOLVE, settings });
  expect(published(course)).toEqual(["0 drift a", "0 drift b", "90 drift c"]);
  expect(course.end.nodes).toHaveLength(3);
  expect(seconds(course)).toBe(180);
});

it("a rehearsal finishes deletions under way, and names nodes that never drain", () => {
  const machines = ["a", "b"].map((name) => ({ name, deletionTimestamp: rfc3339(NOW - 1_000) }));
  const held = pod("q", "b", { metadata: { annotations: { [DO_NOT_DISRUPT]: "true" } } });
  const course = rehearse(snapshot({ machines, pods: [pod("p", "a"), held] }), { ...WITH_SOLVE, settings });
  expect(course.stuck).toEqual(["b-claim"]);
  expect(course.end.nodes.map(({ metadata }) => metadata.name)).toContain("b");
  expect(course.end.nodes.map(({ metadata }) => metadata.name)).not.toContain("a");
});

it("PodDisruptionBudgets prolong a drain", () => {
  const machines = [{ name: "a", deletionTimestamp: rfc3339(NOW - 1_000) }];
  const pods = ["p", "q", "r"].map((name) => pod(name, "a"));
  const course = rehearse(
    snapshot({ pools: [nodePool("default", { consolidateAfter: "Never" })], machines, pods, pdbs: [pdb("web", 1)] }),
    { ...WITH_SOLVE, settings },
  );
  expect(seconds(course)).toBe(3 * 30);
});

it("static pools keep their replicas", () => {
  const pools = [nodePool("default", {}, { replicas: 2 })];
  const start = snapshot({ pools, machines: [{ name: "a" }] });
  const course = rehearse(start, { ...WITH_SOLVE, settings: { ...settings, staticCapacity: true } });
  expect(course.end.nodes).toHaveLength(2);
  const fewer = rehearse(
    { ...start, nodePools: [nodePool("default", {}, { replicas: 0 })] },
    { ...WITH_SOLVE, settings: { ...settings, staticCapacity: true } },
  );
  expect(fewer.end.nodes).toEqual([]);
});

it("a rehearsal calls onDecision for each decision", () => {
  const collected: (readonly [count: number, seconds: number])[] = [];
  const pools = [nodePool("default", { budgets: [{ nodes: "1" }] })];
  const onDecision = (count: number, at: number): void => void collected.push([count, (at - NOW) / 1_000]);
  rehearse(snapshot({ pools, machines: [{ name: "a" }, { name: "b" }] }), { ...WITH_SOLVE, settings, onDecision });
  expect(collected).toEqual([
    [1, 0],
    [2, 45],
  ]);
});

it("a rehearsal reports progress at each pass and between the simulations of a pass", () => {
  const passes: number[] = [];
  const machines = [{ name: "a" }, { name: "b" }];
  const scene = snapshot({ machines, pods: [pod("p", "a"), pod("q", "b")] });
  const course = rehearse(scene, { ...WITH_SOLVE, settings, onProgress: ({ pass }) => void passes.push(pass) });
  expect(new Set(passes)).toEqual(new Set(Array.from({ length: course.passes }, (_, i) => i + 1)));
  expect(passes.filter((pass) => pass === 1).length).toBeGreaterThan(2);
  const { steps, end } = rehearse(scene, { ...WITH_SOLVE, settings });
  expect({ steps, end }).toEqual({ steps: course.steps, end: course.end });
});

it("a rehearsal stops at mostDecisions", () => {
  const course = rehearse(snapshot({ machines: [{ name: "a" }, { name: "b" }] }), { ...WITH_SOLVE, settings, mostDecisions: 0 });
  expect(course).toMatchObject({ outcome: "unsettled", steps: [] });
});

const TYPE_NAMES = ["small", "medium", "large", "huge"] as const;

const scenes = fc
  .array(fc.record({ type: fc.constantFrom(...TYPE_NAMES), spot: fc.boolean(), pods: fc.integer({ min: 0, max: 3 }) }), {
    minLength: 1,
    maxLength: 6,
  })
  .map((machines) => ({
    machines: machines.map(({ type, spot }, i) => ({ name: `n${i}`, type, capacityType: spot ? "spot" : "on-demand" })),
    pods: machines.flatMap(({ pods }, i) => Array.from({ length: pods }, (_, j) => pod(`p${i}-${j}`, `n${i}`))),
  }));

const budgets = fc.constantFrom("1", "50%", "100%");

function frozen<T>(value: T): T {
  if (typeof value === "object" && value !== null && !(value instanceof Map) && !(value instanceof Set) && !Object.isFrozen(value)) {
    Object.freeze(value);
    Object.values(value).forEach(frozen);
  }
  return value;
}

it("a course loses no pod, raises no bill, and settles", () => {
  fc.assert(
    fc.property(scenes, budgets, (scene, nodes) => {
      const start = frozen(snapshot({ ...scene, pools: [nodePool("default", { budgets: [{ nodes }] })] }));
      const course = rehearse(start, { ...WITH_SOLVE, settings });
      const names = new Set(course.end.nodes.map(({ metadata }) => metadata.name));
      expect(course.outcome).toBe("settled");
      expect(course.end.pods.map(({ metadata }) => metadata.name).sort()).toEqual(start.pods.map(({ metadata }) => metadata.name).sort());
      expect(course.end.pods.every(({ spec }) => names.has(spec.nodeName ?? ""))).toBe(true);
      expect(billOf(course.end).pricePerHour).toBeLessThanOrEqual(billOf(start).pricePerHour + 1e-9);
      expect(rehearse(course.end, { ...WITH_SOLVE, settings }).steps).toEqual([]);
    }),
    { numRuns: drawsOf(30) },
  );
});

it("a course is the same in any order of the cluster's objects", () => {
  fc.assert(
    fc.property(scenes, (scene) => {
      const start = snapshot(scene);
      const turned: Snapshot = {
        ...start,
        nodes: start.nodes.toReversed(),
        nodeClaims: start.nodeClaims.toReversed(),
        pods: start.pods.toReversed(),
      };
      expect(published(rehearse(turned, { ...WITH_SOLVE, settings }))).toEqual(published(rehearse(start, { ...WITH_SOLVE, settings })));
    }),
    { numRuns: drawsOf(30) },
  );
});

it("a rehearsal starts from objects, records and commands: pod events, deletions and launches", () => {
  const given = snapshot({ pools: [nodePool("default", { consolidateAfter: "10m" })], machines: [{ name: "a" }, { name: "b" }] });
  const nodeClaims = given.nodeClaims.map((one) => ({ ...one, status: { ...one.status, lastPodEventTime: rfc3339(NOW) } }));
  const start = { ...given, nodeClaims };
  const { claim } = machine({ name: "a" });
  const record = {
    ...{
      cluster: "c",
      name: claim.metadata.name,
      version: 1,
      intentId: "i",
      manifest: claim,
      reason: "provisioned" as const,
      createdAt: 0,
    },
    ...{ podUids: [], instanceTypes: [], pricePerHour: 0, launchAttempts: 1, dueAt: 0 },
  };
  const records = [record, { ...record, name: "b-claim", terminating: { reason: "deleted", at: NOW } }];
  const course = rehearse(start, { ...WITH_SOLVE, settings, records });
  expect(published(course)).toEqual(["615 emptiness a"]);
  expect(course.end.nodes).toEqual([]);
});
