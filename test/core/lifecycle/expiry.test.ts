import { expect, it } from "vitest";
import { expiryOf } from "#core/lifecycle/expiry.ts";
import { nodeClaim } from "../../support/builders.ts";

const HOUR = 3_600_000;
const CREATED = Date.parse("2026-01-01T00:00:00Z");
const claimOf = (uid: string, expireAfter: string) => {
  const claim = nodeClaim({ uid, creationTimestamp: new Date(CREATED).toISOString() });
  return { ...claim, spec: { ...claim.spec, expireAfter } };
};

it("nodes that were made together expire within the last tenth of their lifetime, spread over all of it", () => {
  const hours = Array.from({ length: 300 }, (_, i) => ((expiryOf(claimOf(`uid-${i}`, "720h")) ?? 0) - CREATED) / HOUR);
  expect(Math.max(...hours)).toBeLessThanOrEqual(720);
  expect(Math.min(...hours)).toBeGreaterThanOrEqual(648);
  for (let from = 648; from < 720; from += 12) {
    const inHalfDay = hours.filter((hour) => hour >= from && hour < from + 12).length;
    expect(inHalfDay).toBeGreaterThan(25);
    expect(inHalfDay).toBeLessThan(80);
  }
});

it("the time of a NodeClaim stays the same, and Never has none", () => {
  expect(expiryOf(claimOf("a", "720h"))).toBe(expiryOf(claimOf("a", "720h")));
  expect(expiryOf(claimOf("a", "Never"))).toBeUndefined();
});
