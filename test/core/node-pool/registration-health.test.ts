import { describe, expect, it } from "vitest";
import { conditionOf } from "#core/model/conditions.ts";
import type { NodePool } from "#core/model/node-pool.ts";
import {
  REGISTRATION_HEALTHY,
  REGISTRATIONS,
  registrationsOf,
  withFreshRegistrationHealth,
  withRegistration,
} from "#core/node-pool/registration-health.ts";

const NOW = Date.parse("2026-11-21T00:00:00Z");
const POOL: NodePool = {
  metadata: { name: "default", generation: 3 },
  spec: { template: { spec: { requirements: [], nodeClassRef: { group: "karpenter.k8s.aws", kind: "EC2NodeClass", name: "default" } } } },
  status: { nodeClassObservedGeneration: 2 },
};

/** A NodePool after outcomes, one letter each: S for a registered node, F for a failed registration. */
const poolAfter = (letters: string, pool = POOL): NodePool =>
  [...letters].reduce((published, letter, i) => withRegistration(published, { claim: `c${i}`, registered: letter === "S" }, NOW), pool);
const health = (pool: NodePool): string => {
  const condition = conditionOf(pool.status?.conditions, REGISTRATION_HEALTHY);
  return condition ? `${condition.status} ${condition.reason}` : "none";
};

describe("NodeRegistrationHealthy", () => {
  it.for([
    { outcomes: "", want: "none" },
    { outcomes: "S", want: "True NodeRegistrationHealthy" },
    { outcomes: "F", want: "none" },
    { outcomes: "FF", want: "False RegistrationFailed" },
    { outcomes: "FS", want: "True NodeRegistrationHealthy" },
    { outcomes: "FFS", want: "False RegistrationFailed" },
    { outcomes: "FFSSS", want: "True NodeRegistrationHealthy" },
    { outcomes: "SSSSF", want: "True NodeRegistrationHealthy" },
    { outcomes: "SSSSFF", want: "False RegistrationFailed" },
  ])("NodeRegistrationHealthy is '$want' after '$outcomes'", ({ outcomes, want }) => {
    expect(health(poolAfter(outcomes))).toBe(want);
  });

  it("NodeRegistrationHealthy says why a launch failed", () => {
    const failed = { registered: false, reason: "Unauthorized", message: "not allowed" };
    const published = withRegistration(withRegistration(POOL, { claim: "a", ...failed }, NOW), { claim: "b", ...failed }, NOW);
    expect(conditionOf(published.status?.conditions, REGISTRATION_HEALTHY)).toMatchObject({
      reason: "Unauthorized",
      message: "not allowed",
    });
  });

  it("NodeRegistrationHealthy counts a NodeClaim once, however often it is reported", () => {
    const once = poolAfter("F");
    expect(withRegistration(once, { claim: "c0", registered: false }, NOW)).toBe(once);
  });

  it("repeated successes write nothing", () => {
    const well = poolAfter("SSSS");
    expect(withRegistration(well, { claim: "another", registered: true }, NOW)).toBe(well);
  });

  it("a first success changes the condition alone", () => {
    expect(poolAfter("S").metadata).toBe(POOL.metadata);
  });

  it("the annotation keeps the last four outcomes, readable by people", () => {
    expect(poolAfter("FSSSF").metadata.annotations?.[REGISTRATIONS]).toBe("3/2 c1=registered c2=registered c3=registered c4=failed");
  });
});

describe("a change of NodePool or NodeClass", () => {
  it.for([
    { name: "the pool's generation", pool: { ...POOL, metadata: { ...POOL.metadata, generation: 4 } }, nodeClass: 2, want: "Unknown" },
    { name: "the class's generation", pool: POOL, nodeClass: 3, want: "Unknown" },
    { name: "neither", pool: POOL, nodeClass: 2, want: "False" },
    { name: "an unknown NodeClass", pool: POOL, nodeClass: undefined, want: "False" },
  ])("NodeRegistrationHealthy after a change of $name: $want", ({ pool, nodeClass, want }) => {
    const failed = poolAfter("FF");
    const changed = { ...failed, metadata: { ...failed.metadata, generation: pool.metadata.generation ?? 0 } };
    const status = withFreshRegistrationHealth(changed, changed.status ?? {}, nodeClass, NOW);
    expect(health({ ...changed, status }).split(" ")[0]).toBe(want);
    expect(registrationsOf({ ...changed, status })).toHaveLength(want === "Unknown" ? 0 : 2);
  });
});
