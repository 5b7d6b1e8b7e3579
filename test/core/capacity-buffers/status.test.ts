import { describe, expect, it } from "vitest";
import { headroomOf } from "#core/capacity-buffers/headroom.ts";
import type { Resolution } from "#core/capacity-buffers/resolve.ts";
import { type BufferPlacement, bufferStatus, placementOf } from "#core/capacity-buffers/status.ts";
import type { Plan } from "#core/model/plan.ts";
import { buffer, podTemplate } from "../../support/buffers.ts";

const NOW = Date.parse("2026-01-01T12:00:00Z");
const RESOLVED = {
  ready: true as const,
  template: podTemplate().template,
  ...{ wanted: 3, replicas: 3 },
  podTemplate: { name: "room", generation: 3 },
};
const GONE: Resolution = { ready: false, reason: "PodTemplateNotFound", message: "PodTemplate default/room does not exist" };

const NOWHERE: BufferPlacement = { existing: 0, onTheirWay: 0, errors: [] };

function conditions(resolution: Resolution, placement: BufferPlacement = NOWHERE): Record<string, string> {
  const { conditions: all = [] } = bufferStatus(buffer(), resolution, placement, NOW);
  return Object.fromEntries(all.map(({ type, status, reason }) => [type, `${status} ${reason}`]));
}

describe("a buffer's conditions", () => {
  it.for<{ name: string; resolution?: Resolution; placement?: BufferPlacement; want: Record<string, string> }>([
    {
      name: "room for all",
      placement: { existing: 3, onTheirWay: 0, errors: [] },
      want: { ReadyForProvisioning: "True Resolved", Provisioning: "True FitsExistingCapacity" },
    },
    {
      name: "nodes in flight",
      placement: { existing: 1, onTheirWay: 2, errors: [] },
      want: { ReadyForProvisioning: "True Resolved", Provisioning: "False RequiresNewCapacity" },
    },
    {
      name: "no node can be launched",
      placement: { existing: 2, onTheirWay: 0, errors: ["too large"] },
      want: { ReadyForProvisioning: "True Resolved", Provisioning: "False RequiresNewCapacity" },
    },
    {
      name: "no virtual pods",
      resolution: { ...RESOLVED, wanted: 0, replicas: 0 },
      want: { ReadyForProvisioning: "True Resolved", Provisioning: "False BufferEmpty" },
    },
    {
      name: "a missing PodTemplate",
      resolution: GONE,
      want: { ReadyForProvisioning: "False PodTemplateNotFound", Provisioning: "False NotReadyForProvisioning" },
    },
  ])("a buffer's conditions say: $name", ({ resolution = RESOLVED, placement, want }) => {
    expect(conditions(resolution, placement)).toEqual(want);
  });

  it("a buffer's conditions say how much of a buffer is too much", () => {
    const [{ resolution = GONE } = {}] = headroomOf([buffer({ podTemplateRef: { name: "room" }, replicas: 1_000_000 })], {
      ...{ podTemplates: [podTemplate()], deployments: [], statefulSets: [], replicaSets: [] },
    });
    const { conditions: all = [], replicas } = bufferStatus(buffer(), resolution, NOWHERE, NOW);
    expect(replicas).toBe(10_000);
    expect(all.find(({ type }) => type === "ReadyForProvisioning")?.message).toBe(
      "The pods' shape and number are known; room is made for 10000 of 1000000: a buffer gets at most 10000, and all buffers together 20000",
    );
  });

  it("a buffer's conditions say why no node can be launched", () => {
    const placement = { existing: 0, onTheirWay: 1, errors: ["no NodePool can launch nodes", "no NodePool can launch nodes"] };
    const { conditions: all = [] } = bufferStatus(buffer(), RESOLVED, placement, NOW);
    expect(all.find(({ type }) => type === "Provisioning")?.message).toBe(
      "There is room for 0 of 3 pods; nodes for 1 are on their way; for 2 none can be made: no NodePool can launch nodes",
    );
  });
});

describe("a buffer's status", () => {
  const full = { existing: 3, onTheirWay: 0, errors: [] };

  it("a buffer's status shows the resolved references", () => {
    expect(bufferStatus(buffer(), RESOLVED, full, NOW)).toMatchObject({
      replicas: 3,
      podTemplateRef: { name: "room" },
      podTemplateGeneration: 3,
      provisioningStrategy: "buffer.x-k8s.io/active-capacity",
    });
  });

  it("a buffer's status is unchanged while nothing but the time changes", () => {
    const status = bufferStatus(buffer(), RESOLVED, full, NOW);
    expect(bufferStatus(buffer(undefined, {}, status), RESOLVED, full, NOW + 60_000)).toEqual(status);
  });

  it("a buffer's status drops the PodTemplate when the buffer references a workload", () => {
    const status = bufferStatus(buffer(), RESOLVED, full, NOW);
    const { podTemplate: _, ...followed } = RESOLVED;
    const next = bufferStatus(buffer(undefined, {}, status), followed, full, NOW);
    expect(next).not.toHaveProperty("podTemplateRef");
    expect(next).not.toHaveProperty("podTemplateGeneration");
  });

  it("a buffer's status keeps conditions of other writers", () => {
    const theirs = {
      type: "LimitedByQuotas",
      status: "False" as const,
      reason: "Fine",
      message: "",
      lastTransitionTime: "2025-01-01T00:00:00Z",
    };
    const next = bufferStatus(buffer(undefined, {}, { conditions: [theirs] }), RESOLVED, full, NOW);
    expect(next.conditions).toContainEqual(theirs);
  });
});

describe("the placement of a buffer's pods", () => {
  const [headroom] = headroomOf([buffer({ podTemplateRef: { name: "room" }, replicas: 4 })], {
    podTemplates: [podTemplate()],
    deployments: [],
    statefulSets: [],
    replicaSets: [],
  });

  it("the placement of a buffer's pods counts the plan and NodeClaims written before", () => {
    const name = (n: number) => `default/capacity-buffer-spare-${n}`;
    const plan = {
      newNodeClaims: [{ pods: [name(1), "default/web"] }],
      existingNodes: [{ name: "n1", pods: [name(2), "default/web-2"] }],
      podErrors: { [name(3)]: "too large", "default/other": "taint" },
    } as unknown as Plan;
    const nominated = new Map([["cb-uid-4", "default-x"]]);
    expect(placementOf({ pods: headroom?.pods ?? [] }, plan, nominated)).toEqual({ existing: 1, onTheirWay: 2, errors: ["too large"] });
  });
});
