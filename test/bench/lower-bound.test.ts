import { expect, it } from "vitest";
import { solve } from "../../core/scheduling/solve.ts";
import { PRICED_PODS } from "../support/effort.ts";
import { lowerBounds } from "./lower-bound.ts";
import { FAMILIES, settingOf, snapshotOf } from "./workloads.ts";

it.for(FAMILIES)("stays below what a plan costs, and makes the same %s workload each time", async (family) => {
  const snapshot = snapshotOf(settingOf(family), PRICED_PODS);
  const plan = solve(snapshot);
  const price = plan.newNodeClaims.reduce((sum, { pricePerHour }) => sum + (pricePerHour ?? 0), 0);
  const { plain, spread } = await lowerBounds(snapshot);
  expect(plain).toBeGreaterThan(0);
  expect(spread).toBeLessThanOrEqual(price);
  // What is asked besides can only cost more.
  expect(spread).toBeGreaterThanOrEqual(plain * (1 - 1e-9));
  expect(plan.podErrors).toEqual({});
  expect(solve(snapshotOf(settingOf(family), PRICED_PODS))).toEqual(plan);
});
