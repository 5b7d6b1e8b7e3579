import { expect, it } from "vitest";
import { solve } from "#core/scheduling/solve.ts";
import { scenarioToSnapshot } from "../../support/scheduling/scenario.ts";
import { softRulesHeld } from "./held.ts";
import { asPlanned, asScheduled } from "./play-plan.ts";
import { softScenario } from "./scenarios.ts";

/** One scenario whose Deployments prefer other hosts and other zones. */
const scenario = softScenario(1);
const planOf = (preferencePolicy: "Respect" | "Ignore") => {
  const plan = solve(scenarioToSnapshot(scenario), { preferencePolicy });
  return { plan, planned: new Set(plan.newNodeClaims.flatMap(({ pods }) => pods)) };
};

it("with Respect all soft spreads hold where the plan wants the pods, with Ignore some do not", () => {
  const share = (policy: "Respect" | "Ignore") => {
    const { plan, planned } = planOf(policy);
    const held = softRulesHeld(scenario, planned, asPlanned(scenario, plan));
    const [kept, all] = (["hosts", "zones"] as const)
      .map((rule) => held.get(rule) ?? [0, 0])
      .reduce(([a, b], [c, d]) => [a + c, b + d] as const);
    return kept / all;
  };
  expect(share("Respect")).toBe(1);
  expect(share("Ignore")).toBeLessThan(1);
});

it("the lab's kube-scheduler binds every planned pod to a planned node or says that it does not", async () => {
  const { plan, planned } = planOf("Ignore");
  const { placed, unplaced } = await asScheduled(scenario, plan);
  expect(placed.length + unplaced.length).toBe(planned.size);
  expect(placed.length).toBeGreaterThan(0);
  const nodes = new Set(placed.map(({ labels }) => labels["kubernetes.io/hostname"]));
  expect([...nodes].filter((name) => !/^new-\d+$/.test(name ?? ""))).toEqual([]);
});
