import { describe, expect, it } from "vitest";
import { CAPACITY_OVERLAY_APPLIED, overlayAnnotations, PRICE_OVERLAY_APPLIED } from "#core/node-overlay/annotations.ts";
import { nodeOverlayStatus } from "#core/node-overlay/status.ts";
import type { OverlayVerdict } from "#core/node-overlay/verdict.ts";
import { instanceType } from "../../support/scheduling/builders.ts";
import { nodeOverlay } from "./builders.ts";

const NOW = Date.parse("2026-01-01T00:00:00Z");
const applied: OverlayVerdict = { outcome: "Applied", instanceTypes: ["m5.large"] };
const clash: OverlayVerdict = { outcome: "Conflict", clash: { other: "b", weight: 1, over: "a.b/x of m5.large", nodePool: "default" } };

describe("the status of an overlay", () => {
  it.for<{ name: string; verdict: OverlayVerdict; want: object[] }>([
    {
      name: "an applied overlay",
      verdict: applied,
      want: [
        { type: "ValidationSucceeded", status: "True", reason: "ValidationSucceeded", observedGeneration: 1 },
        { type: "Ready", status: "True" },
      ],
    },
    {
      name: "a conflicting overlay",
      verdict: clash,
      want: [
        { type: "ValidationSucceeded", status: "False", reason: "Conflict", message: expect.stringContaining("NodeOverlay b") },
        { type: "Ready", status: "False", reason: "UnhealthyDependents" },
      ],
    },
    {
      name: "an invalid overlay",
      verdict: { outcome: "RuntimeValidation", problems: ["one", "two"] },
      want: [
        { type: "ValidationSucceeded", status: "False", reason: "RuntimeValidation", message: "one; two" },
        { type: "Ready", status: "False" },
      ],
    },
  ])("the status of $name", ({ verdict, want }) => {
    expect(nodeOverlayStatus(nodeOverlay("x", {}), verdict, NOW).conditions).toMatchObject(want);
  });

  it("an overlay's status is unchanged when nothing has changed, and changes when the conflict is resolved", () => {
    const overlay = nodeOverlay("x", {});
    const first = nodeOverlayStatus(overlay, clash, NOW);
    const later = NOW + 3_600_000;
    expect(nodeOverlayStatus({ ...overlay, status: first }, clash, later)).toEqual(first);
    const resolved = nodeOverlayStatus({ ...overlay, status: first }, applied, later);
    expect(resolved.conditions?.map(({ status, lastTransitionTime }) => [status, lastTransitionTime])).toEqual([
      ["True", "2026-01-01T01:00:00Z"],
      ["True", "2026-01-01T01:00:00Z"],
    ]);
  });
});

describe("the annotations of a claim", () => {
  const plain = instanceType("plain", 2, 8);
  const cheap = {
    ...plain,
    name: "cheap",
    offerings: plain.offerings.map((offering, i) => (i === 1 ? { ...offering, priceOverlaid: true as const } : offering)),
  };
  const rich = { ...plain, name: "rich", capacityOverlaid: true as const };
  it.for([
    { names: ["plain"], want: {} },
    { names: ["plain", "cheap"], want: { [PRICE_OVERLAY_APPLIED]: "true" } },
    { names: ["rich"], want: { [CAPACITY_OVERLAY_APPLIED]: "true" } },
    { names: ["cheap", "rich"], want: { [PRICE_OVERLAY_APPLIED]: "true", [CAPACITY_OVERLAY_APPLIED]: "true" } },
  ])("the annotations of a NodeClaim for $names", ({ names, want }) => {
    expect(overlayAnnotations([plain, cheap, rich], names)).toEqual(want);
  });
});
