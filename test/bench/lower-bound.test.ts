import { expect, it } from "vitest";
import { solve } from "../../core/scheduling/solve.ts";
import { lowerBound } from "./lower-bound.ts";
import { FAMILIES, settingOf, snapshotOf } from "./workloads.ts";

it.for(FAMILIES)("stays below what a plan costs, and makes the same %s workload each time", (family) => {
  const snapshot = snapshotOf(settingOf(family), 200);
  const plan = solve(snapshot);
  const price = plan.newNodeClaims.reduce((sum, { pricePerHour }) => sum + (pricePerHour ?? 0), 0);
  const bound = lowerBound(snapshot);
  expect(bound).toBeGreaterThan(0);
  expect(bound).toBeLessThanOrEqual(price);
  expect(plan.podErrors).toEqual({});
  expect(solve(snapshotOf(settingOf(family), 200))).toEqual(plan);
});
