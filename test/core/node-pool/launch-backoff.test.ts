import { describe, expect, it } from "vitest";
import type { NodePool } from "#core/model/node-pool.ts";
import {
  afterRegistration,
  expiryProblem,
  type FailedLaunch,
  launchHold,
  nextLaunchAt,
  withFailedLaunch,
  withProvenPools,
} from "#core/node-pool/launch-backoff.ts";
import { nodeClaim } from "../../support/builders.ts";

const MINUTE = 60_000;
const START = Date.parse("2026-11-28T10:00:00Z");
const POOL: NodePool = {
  metadata: { name: "default", generation: 3 },
  spec: { template: { spec: { requirements: [], nodeClassRef: { group: "karpenter.k8s.aws", kind: "EC2NodeClass", name: "default" } } } },
  status: { nodeClassObservedGeneration: 2 },
};

const failed = (pool: NodePool, plannedAt: number, at: number, end: FailedLaunch["end"] = "unregistered"): NodePool =>
  withFailedLaunch(pool, { end, plannedAt }, at);

/** The NodePool after tries in a row, each planned as soon as the NodePool may launch, and lost 15 minutes later. */
function afterTries(tries: number, end: FailedLaunch["end"] = "unregistered"): { readonly pool: NodePool; readonly at: number } {
  let [pool, at] = [POOL, START];
  for (let n = 0; n < tries; n++) {
    const plannedAt = launchHold(pool, at)?.until ?? at;
    at = plannedAt + 15 * MINUTE;
    pool = failed(pool, plannedAt, at, end);
  }
  return { pool, at };
}

describe("the wait after failed launches", () => {
  it.for([
    { tries: 1, minutes: 1 },
    { tries: 2, minutes: 2 },
    { tries: 3, minutes: 4 },
    { tries: 4, minutes: 8 },
    { tries: 5, minutes: 16 },
    { tries: 6, minutes: 30 },
    { tries: 9, minutes: 30 },
  ])("a NodePool waits $minutes minutes after $tries tries that failed", ({ tries, minutes }) => {
    const { pool, at } = afterTries(tries);
    expect(launchHold(pool, at)?.until).toBe(at + minutes * MINUTE);
    expect(launchHold(pool, at + minutes * MINUTE)).toBeUndefined();
    expect(nextLaunchAt([POOL, pool], at)).toBe(at + minutes * MINUTE);
  });

  it("machines that were planned before the failure was known are of the same try, and each counts once", () => {
    const once = failed(POOL, START, START + MINUTE);
    expect(failed(once, START, START + 2 * MINUTE)).toBe(once);
    expect(failed(once, START + 30_000, START + 3 * MINUTE)).toBe(once);
  });

  it("a failure of an hour ago is forgotten", () => {
    const { pool, at } = afterTries(4);
    const later = at + 61 * MINUTE;
    expect(launchHold(failed(pool, later - MINUTE, later), later)?.until).toBe(later + MINUTE);
  });

  it("another generation of the NodePool or of its EC2NodeClass tries at once", () => {
    const { pool, at } = afterTries(3);
    expect(launchHold({ ...pool, metadata: { ...pool.metadata, generation: 4 } }, at)).toBeUndefined();
    expect(launchHold({ ...pool, status: { nodeClassObservedGeneration: 3 } }, at)).toBeUndefined();
  });

  it("a node that registers ends the wait for nodes that do not, and not that for nodes that end unused", () => {
    expect(launchHold(afterRegistration(afterTries(3).pool), afterTries(3).at)).toBeUndefined();
    const { pool, at } = afterTries(3, "unused");
    expect(afterRegistration(pool)).toBe(pool);
    expect(launchHold(pool, at)?.text).toContain("ended before a pod ran on them");
  });

  it.for([
    { name: "of the same try", creationTimestamp: new Date(START + MINUTE).toISOString(), isHeld: false },
    { name: "that is older", creationTimestamp: new Date(START - MINUTE).toISOString(), isHeld: true },
  ])("a NodePool with a registered node $name: held is $isHeld", ({ creationTimestamp, isHeld }) => {
    const pool = failed(POOL, START, START + 15 * MINUTE);
    const made = nodeClaim({ creationTimestamp, conditions: ["Launched", "Registered"] });
    const claim = { ...made, metadata: { ...made.metadata, labels: { "karpenter.sh/nodepool": "default" } } };
    const [seen = POOL] = withProvenPools([pool], [claim]);
    expect(launchHold(seen, START + 15 * MINUTE) !== undefined).toBe(isHeld);
  });

  it.for(["", "3/2 nought unregistered", "3/2 2 unregistered 2026 never", "3/2 -1 unregistered x y"])(
    "an annotation that cannot be read (%s) holds nothing",
    (text) => {
      const pool = { ...POOL, metadata: { ...POOL.metadata, annotations: { "karpenter-serverless/launch-backoff": text } } };
      expect(launchHold(pool, START)).toBeUndefined();
    },
  );
});

it.for([
  { expireAfter: "0s", isRefused: true },
  { expireAfter: "59s", isRefused: true },
  { expireAfter: "1m", isRefused: false },
  { expireAfter: "720h", isRefused: false },
  { expireAfter: "Never", isRefused: false },
])("expireAfter $expireAfter: refused is $isRefused", ({ expireAfter, isRefused }) => {
  const { template } = POOL.spec;
  expect(expiryProblem({ spec: { template: { spec: { ...template.spec, expireAfter } } } }) !== undefined).toBe(isRefused);
});
