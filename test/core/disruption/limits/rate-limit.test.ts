import { describe, expect, it } from "vitest";
import { shareWell, withMoved } from "#core/disruption/limits/pod-health.ts";
import {
  type DisruptionRate,
  isUnlimited,
  leftOf,
  limitOf,
  nextLookAt,
  readRate,
  windowAt,
  withEnded,
} from "#core/disruption/limits/rate-limit.ts";
import { parseDuration } from "#core/lib/duration.ts";
import type { Pod } from "#core/model/pod.ts";
import { condition, fullCondition } from "#test/support/objects.ts";
import { NOW, nodePool, pod } from "../builders.ts";

const MINUTE = 60_000;
const RATE = { share: 0.2, windowMs: 10 * MINUTE };

const webPod = (name: string, isReady: boolean, kind = "ReplicaSet"): Pod =>
  pod(name, "a", {
    metadata: { uid: name, ownerReferences: [{ apiVersion: "apps/v1", kind, name: "web", uid: "web", controller: true }] },
    status: { phase: "Running", conditions: [condition("Ready", { status: isReady ? "True" : "False" })] },
  });
const WELL = ["a", "b", "c", "d"].map((name) => webPod(name, true));
const UNWELL = WELL.map((one, i) => webPod(one.metadata.name, i > 0));
const CLAIMS = new Set(["n0"]);

/** A window in which so many nodes have ended, one a second, whose four pods have moved. */
const usedUp = (count: number, nodes: number): DisruptionRate =>
  Array.from({ length: count }).reduce<DisruptionRate>(
    (window, _, i) => withEnded(window, [`n${i}`], { now: NOW + i * 1_000, pods: WELL }, WELL),
    windowAt(undefined, { now: NOW, nodes }, RATE),
  );

describe("the disruption rate", () => {
  it.for([
    { nodes: 3, limit: 10 },
    { nodes: 50, limit: 10 },
    { nodes: 101, limit: 20 },
    { nodes: 1_000, limit: 200 },
  ])("lets $limit of $nodes nodes end in a window", ({ nodes, limit }) => {
    expect(limitOf(windowAt(undefined, { now: NOW, nodes }, RATE), RATE)).toBe(limit);
  });

  it("counts the end of a node once, however often it is decided", () => {
    const window = usedUp(3, 5);
    expect(leftOf(window, RATE)).toBe(7);
    expect(withEnded(window, ["n1", "n2"], { now: NOW + MINUTE })).toBe(window);
  });

  it.for([
    { name: "at once, no node", after: 20_000, pods: WELL, left: 0 },
    { name: "once the pods that moved are well, twice as many", after: 70_000, pods: WELL, left: 20 },
    { name: "while a node of it stands, none", after: 70_000, pods: WELL, claims: CLAIMS, left: 0 },
    { name: "while they are not, none", after: 9 * MINUTE, pods: UNWELL, left: 0 },
    { name: "and after the window as many as at first", after: 10 * MINUTE, pods: UNWELL, left: 10 },
    { name: "without a look at pods, as many as before", after: 10 * MINUTE, pods: undefined, left: 10 },
    { name: "after a long rest, as many as at first", after: 31 * MINUTE, pods: WELL, left: 10 },
  ])("of a window that is used up lets end $name", ({ after, pods, claims, left }) => {
    const facts = { now: NOW + after, nodes: 40, ...(pods && { pods }), ...(claims && { claims }) };
    const window = windowAt(usedUp(10, 40), facts, RATE);
    expect(leftOf(window, RATE)).toBe(left);
  });

  it("looks at the pods each minute while no node may go", () => {
    expect(nextLookAt(usedUp(9, 40), RATE, NOW + MINUTE)).toBeUndefined();
    expect(nextLookAt(usedUp(10, 40), RATE, NOW + 10_000)).toBe(NOW + 9_000 + MINUTE);
    expect(nextLookAt(usedUp(10, 40), RATE, NOW + 70_000)).toBe(NOW + 9_000 + 2 * MINUTE);
  });

  it.for([
    { budgets: undefined, is: false },
    { budgets: [{ nodes: "10%" }], is: false },
    { budgets: [{ nodes: "100%" }], is: true },
    { budgets: [{ nodes: "100%" }, { nodes: "5" }], is: false },
    { budgets: [{ nodes: "100%" }, { nodes: "5", reasons: ["Empty" as const] }], is: true },
    { budgets: [], is: true },
  ])("does not count nodes that a person has let go all at once: $budgets is $is", ({ budgets, is }) => {
    const { disruption, ...spec } = nodePool("default").spec;
    const { budgets: _, ...rest } = disruption ?? { consolidateAfter: "0s" };
    const pool = { ...nodePool("default"), spec: { ...spec, disruption: { ...rest, ...(budgets && { budgets }) } } };
    expect(isUnlimited(pool, "Drifted", NOW)).toBe(is);
  });

  it.for([
    { text: "20%/10m", want: RATE },
    { text: "off", want: "off" },
    ...["20%", "0%/10m", "101%/10m", "20%/10s", "20%/soon", "x", ""].map((text) => ({ text, want: undefined })),
  ])("reads $text", ({ text, want }) => {
    expect(readRate(text, parseDuration)).toEqual(want);
  });
});

describe("how pods are that have moved", () => {
  it("counts pods that are worse than before, and none that was unwell before", () => {
    expect(shareWell(withMoved({}, WELL, WELL), WELL)).toBe(1);
    expect(shareWell(withMoved({}, WELL, WELL), UNWELL)).toBe(0.75);
    expect(shareWell(withMoved({}, WELL, UNWELL), UNWELL)).toBe(1);
    expect(shareWell({}, UNWELL)).toBe(1);
    // The same four pods have moved twice.
    expect(shareWell(withMoved(withMoved({}, WELL, WELL), WELL, WELL), UNWELL)).toBe(0.75);
  });

  it("counts a pod that was ready for a moment as unwell where it asks for more", () => {
    const young = WELL.map((one) => ({
      ...one,
      status: { phase: "Running" as const, conditions: [fullCondition("Ready", new Date(NOW).toISOString())] },
    }));
    expect(shareWell(withMoved({}, WELL, WELL), young, NOW - MINUTE)).toBe(0);
    expect(shareWell(withMoved({}, WELL, WELL), young, NOW + MINUTE)).toBe(1);
  });

  it("a pod that waits for a node is unwell; one of a Job only when it fails", () => {
    const waiting = { ...webPod("a", false), status: { phase: "Pending" as const } };
    expect(shareWell(withMoved({}, [webPod("a", true)], []), [waiting])).toBe(0);
    const job = webPod("a", false, "Job");
    expect(shareWell(withMoved({}, [job], []), [job])).toBe(1);
    expect(shareWell(withMoved({}, [job], []), [{ ...job, status: { phase: "Failed" } }])).toBe(0);
  });
});
