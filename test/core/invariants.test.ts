import { describe, expect, it } from "vitest";
import { commandViolation } from "#core/disruption/command/command-invariants.ts";
import { launchedViolation, requestViolation } from "#core/launch/request-invariants.ts";
import type { CommandCandidate } from "#core/model/command-record.ts";
import type { Plan, PlannedNodeClaim } from "#core/model/plan.ts";
import { planViolation, soundPlan } from "#core/scheduling/plan-invariants.ts";

const claim = (change: Partial<PlannedNodeClaim> = {}): PlannedNodeClaim => ({
  ...{ nodePool: "default", requirements: [], taints: [], labels: {}, instanceTypes: ["m5.large"], requests: {} },
  ...{ pods: ["default/a"], pricePerHour: 0.1 },
  ...change,
});
const plan = (change: Partial<Plan> = {}): Plan => ({ newNodeClaims: [claim()], existingNodes: [], podErrors: {}, ...change });

describe("a plan", () => {
  it("that obeys each rule has no violation", () => {
    expect(planViolation(plan({ existingNodes: [{ name: "n", pods: ["default/b"] }] }))).toBeUndefined();
  });

  it.for([
    { rule: "a plan places each pod once", change: { existingNodes: [{ name: "n", pods: ["default/a"] }] } },
    { rule: "a planned NodeClaim names an instance type", change: { newNodeClaims: [claim({ instanceTypes: [] })] } },
    {
      rule: "the price of a planned NodeClaim is finite and not negative",
      change: { newNodeClaims: [claim({ pricePerHour: Number.POSITIVE_INFINITY })] },
    },
    {
      rule: "the price of a planned NodeClaim is finite and not negative",
      change: { newNodeClaims: [claim({ pricePerHour: -1 })] },
    },
  ])("can break: $rule", ({ rule, change }) => {
    expect(planViolation(plan(change))?.rule).toBe(rule);
    expect(planViolation(soundPlan(plan(change)))).toBeUndefined();
  });

  it("keeps the rest without what breaks a rule, and says it of the pods that lose their place", () => {
    const bad = claim({ pods: ["default/bad"], pricePerHour: Number.NaN });
    const sound = soundPlan(plan({ newNodeClaims: [claim(), bad] }));
    expect(sound.newNodeClaims).toEqual([claim()]);
    expect(sound.podErrors).toEqual({ "default/bad": expect.stringContaining("left out because of a fault in this program") });
  });

  it("keeps the first place of a pod that has two", () => {
    const sound = soundPlan(plan({ existingNodes: [{ name: "n", pods: ["default/a"] }] }));
    expect(sound.existingNodes).toEqual([{ name: "n", pods: ["default/a"] }]);
    expect(sound.newNodeClaims).toEqual([claim({ pods: [] })]);
  });
});

describe("a disruption command", () => {
  const candidate = (nodeClaim: string): CommandCandidate => ({
    ...{
      nodeClaim,
      node: nodeClaim,
      nodePool: "default",
      instanceType: "m5.large",
      capacityType: "spot",
      zone: "a",
      pricePerHour: 1,
      pods: [],
    },
  });
  const command = { candidates: [candidate("a")], replacements: [claim()], savingsPerHour: 0.9 };
  const known = new Set(["a", "b"]);

  it("that obeys each rule has no violation", () => {
    expect(commandViolation(command, known)).toBeUndefined();
  });

  it.for([
    { rule: "a command disrupts candidates", change: { candidates: [candidate("stranger")] } },
    { rule: "a command disrupts each NodeClaim once", change: { candidates: [candidate("a"), candidate("a")] } },
    { rule: "a command disrupts a NodeClaim", change: { candidates: [] } },
    { rule: "the savings of a command are finite", change: { savingsPerHour: Number.NaN } },
    { rule: "the price of a replacement is finite and not negative", change: { replacements: [claim({ pricePerHour: Number.NaN })] } },
  ])("can break: $rule", ({ rule, change }) => {
    expect(commandViolation({ ...command, ...change }, known)?.rule).toBe(rule);
  });
});

describe("a launch", () => {
  const override = { instanceType: "m5.large", subnetId: "subnet-1", zone: "a", imageId: "ami", price: 0.1 };
  const request = (change: Partial<typeof override> = {}) => ({
    launchTemplates: [{ name: "t", overrides: [{ ...override, ...change }] }],
  });

  it("that obeys each rule has no violation", () => {
    expect(requestViolation(request())).toBeUndefined();
    expect(launchedViolation(request(), { id: "i-1", instanceType: "m5.large" })).toBeUndefined();
  });

  it("can break: prices are finite, instances are whole, the type is one of the request", () => {
    expect(requestViolation(request({ price: Number.NaN }))?.rule).toBe("the prices of a launch are finite and not negative");
    expect(requestViolation({ ...request(), count: 0.5 })?.rule).toBe("a launch is of whole instances");
    expect(launchedViolation(request(), { id: "i-1", instanceType: "m5.xlarge" })?.rule).toBe(
      "a launch returns an instance type of its request",
    );
  });
});
