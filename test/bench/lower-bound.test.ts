import { expect, it } from "vitest";
import { solve } from "#core/scheduling/solve.ts";
import { PRICED_PODS } from "../support/effort.ts";
import { lowerBounds } from "./lower-bound.ts";
import { FAMILIES, settingOf, snapshotOf } from "./workloads.ts";

it.for(FAMILIES)(
  "the lower bound of the %s workload is below the price of a plan, and the workload is the same each time",
  async (family) => {
    const snapshot = snapshotOf(settingOf(family), PRICED_PODS);
    const plan = solve(snapshot);
    const price = plan.newNodeClaims.reduce((sum, { pricePerHour }) => sum + (pricePerHour ?? 0), 0);
    const { plain, spread } = await lowerBounds(snapshot);
    expect(plain).toBeGreaterThan(0);
    expect(spread).toBeLessThanOrEqual(price);
    // More constraints can only cost more.
    expect(spread).toBeGreaterThanOrEqual(plain * (1 - 1e-9));
    expect(plan.podErrors).toEqual({});
    expect(solve(snapshotOf(settingOf(family), PRICED_PODS))).toEqual(plan);
  },
);
