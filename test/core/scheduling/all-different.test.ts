import { describe, expect, it } from "vitest";
import type { Pod } from "#core/model/pod.ts";
import { Attempt } from "#core/scheduling/attempt.ts";
import { MAX_KINDS } from "#core/scheduling/packing/demand.ts";
import { Packer, type PackingVariant } from "#core/scheduling/packing/packer.ts";
import { solve } from "#core/scheduling/solve.ts";
import { SHAPES, type Shape } from "../../bench/all-different.ts";
import { type Setting, settingOf, snapshotOf } from "../../bench/workloads.ts";
import { brokenRules } from "../../support/scheduling/check-plan.ts";
import { planToJson } from "../../support/scheduling/scenario.ts";
import { packingProblemFor, problemFromSnapshot } from "./packing/packing-builders.ts";

/** Of the AWS catalogue, each so manyth type is enough, and quick. */
const EACH_TYPE = 10;

/** What is made once for each shape. */
const settings = new Map<Shape, Setting>();

function setting(shape: Shape): Setting {
  const known = settings.get(shape) ?? settingOf(shape, EACH_TYPE);
  settings.set(shape, known);
  return known;
}

/** A scenario of pods of a shape. */
function scenarioOf(shape: Shape, count: number) {
  const { nodePools, daemonSets, instanceTypes, pods } = setting(shape);
  return {
    now: "2026-01-01T00:00:00Z",
    nodePools,
    daemonSets,
    instanceTypes: [...instanceTypes],
    pods: pods(count),
    nodes: [],
    nodeClaims: [],
  };
}

const attemptOf = (shape: Shape, count: number, maxSteps?: number): Attempt =>
  new Attempt(problemFromSnapshot(snapshotOf(setting(shape), count)), { claims: "least-added-price", seed: 0 }, maxSteps).run();

describe("pods that are all different", () => {
  it.each(["own-port", "own-amounts", "mixed"] as const)("%s: an attempt without steps left takes few for each pod", (shape) => {
    const { failed, steps } = attemptOf(shape, 1_000, 0);
    expect(failed.size).toBe(0);
    expect(steps).toBeLessThan(1_000 * 5_000);
  });

  it("of many pods, an attempt without steps left compares each with fewer claims", () => {
    expect(attemptOf("mixed", 1_200, 0).steps).toBeLessThan(attemptOf("mixed", 1_200).steps);
  });

  it("four times the pods take an attempt without steps left less than eight times the steps", () => {
    expect(attemptOf("own-port", 1_200, 0).steps).toBeLessThan(8 * attemptOf("own-port", 300, 0).steps);
  });

  it("an attempt goes beyond its steps by no more than a part that is in proportion to its pods", () => {
    const maxSteps = 100_000;
    const { steps, failed } = attemptOf("mixed", 400, maxSteps);
    expect(failed.size).toBe(0);
    expect(steps).toBeGreaterThan(maxSteps);
    expect(steps).toBeLessThan(maxSteps + 400 * 5_000);
  });

  it.each(SHAPES)("%s: a plan breaks no rule, and leaves no pod that some node could take", (shape) => {
    const parts = scenarioOf(shape, 16);
    const plan = solve(snapshotOf(setting(shape), 16));
    expect(Object.keys(plan.podErrors)).toHaveLength(shape === "own-resource" ? 16 : 0);
    expect(brokenRules(parts, planToJson(plan, 0))).toEqual([]);
  });

  it("resources that nothing offers have one place on the axis, and a reason names the pod's own", () => {
    const problem = problemFromSnapshot(snapshotOf(setting("own-resource"), 30));
    expect(problem.axis.names).toEqual(["cpu", "example.com/device-0", "memory", "pods"]);
    const { podErrors } = solve(snapshotOf(setting("own-resource"), 30));
    expect(podErrors["default/pod-17"]).toContain("example.com/device-17");
  });

  it("the order in which the pods are listed does not change the plan", () => {
    const snapshot = snapshotOf(setting("mixed"), 20);
    const reversed: readonly Pod[] = [...snapshot.pods].reverse();
    expect(solve({ ...snapshot, pods: reversed })).toEqual(solve(snapshot));
  });
});

describe("packing of pods that are all different", () => {
  it("pods that exclude a few types of their own are packed as one kind", () => {
    const { demand } = packingProblemFor(scenarioOf("excluded-types", MAX_KINDS + 5));
    expect(demand.kinds).toHaveLength(1);
    expect(demand.items.reduce((sum, { pods }) => sum + pods, 0)).toBe(MAX_KINDS + 5);
  });

  it("of too many kinds, only so many are packed", () => {
    const { demand } = packingProblemFor(scenarioOf("own-label", MAX_KINDS + 5));
    expect(demand.kinds).toHaveLength(MAX_KINDS);
    expect(demand.itemOfPod.filter((items) => items !== undefined)).toHaveLength(MAX_KINDS);
  });

  it("few kinds are told apart even if they allow nearly the same types", () => {
    const { demand } = packingProblemFor(scenarioOf("excluded-types", 10));
    expect(demand.kinds).toHaveLength(10);
  });

  it("a packer without steps left proposes no further nodes", () => {
    const { demand, offeringGroups, shadowPrices, width } = packingProblemFor(scenarioOf("own-amounts", 50));
    const all = Int32Array.from(demand.items, ({ pods }) => pods);
    const variant: PackingVariant = { hostRulesFirst: false, spreadBonus: 0 };
    const packed = (maxSteps: number): number =>
      new Packer(demand, offeringGroups, shadowPrices, width, maxSteps)
        .pack(all, variant)
        .reduce((sum, { nodes, contents }) => sum + nodes * contents.reduce((pods, [, n]) => pods + n, 0), 0);
    expect(packed(Number.POSITIVE_INFINITY)).toBe(50);
    expect(packed(0)).toBeLessThan(50);
  });
});
