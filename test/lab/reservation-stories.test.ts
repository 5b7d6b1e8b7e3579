import { describe, expect, it } from "vitest";
import type { Lab } from "#lab/host.ts";
import type { SimulatedReservation } from "#lab/world/reservations.ts";
import type { ApiObject } from "#manifests/api-object.ts";
import { FAMILIES, NODE_CLASS, nodePool } from "../simulation/story.ts";
import { alive, expectAccountedFor, INFLATE, MINUTE, names, pass, ready, runningPods, scale } from "../support/lab-story.ts";

const CAPACITY = { key: "karpenter.sh/capacity-type", operator: "In", values: ["reserved", "on-demand"] };
const POOL = nodePool([CAPACITY, FAMILIES]);
const SELECTING: ApiObject = {
  ...NODE_CLASS,
  spec: { ...(NODE_CLASS.spec as object), capacityReservationSelectorTerms: [{ tags: { team: "a" } }] },
};

const odcr = (instances: number, over: Partial<SimulatedReservation> = {}): SimulatedReservation => ({
  ...{ id: "cr-1", zone: "us-west-2a", instanceType: "m5.large", instanceMatchCriteria: "targeted", ownerID: "111122223333" },
  ...{ reservationType: "default", interruptible: false, instances },
  ...over,
});

async function open(...reservations: readonly SimulatedReservation[]): Promise<Lab> {
  const lab = await ready([SELECTING, POOL, INFLATE]);
  lab.cloud.reservations.push(...reservations);
  await pass(lab, 2 * MINUTE);
  return lab;
}

/** The capacity types of what runs, sorted. */
const bought = (lab: Lab) =>
  alive(lab)
    .map(({ instance }) => instance.capacityType)
    .sort();
const labelsOf = (lab: Lab, kind: string) => lab.world.store.list(kind)[0]?.metadata.labels ?? {};

describe("a capacity reservation", () => {
  it("is filled before any other capacity is launched, and not overfilled", async () => {
    const lab = await open(odcr(2));
    scale(lab, 1);
    await pass(lab, 3 * MINUTE);
    expect(bought(lab)).toEqual(["reserved"]);
    for (const kind of ["NodeClaim", "Node"]) {
      expect(labelsOf(lab, kind)).toMatchObject({
        "karpenter.sh/capacity-type": "reserved",
        "karpenter.k8s.aws/capacity-reservation-id": "cr-1",
      });
    }
    scale(lab, 6);
    await pass(lab, 10 * MINUTE);
    expect(runningPods(lab)).toBe(6);
    expect(bought(lab).filter((kind) => kind === "reserved")).toHaveLength(2);
    expect(alive(lab).filter(({ instance }) => instance.reservationId === "cr-1")).toHaveLength(2);
    await expectAccountedFor(lab, alive(lab).length);
    lab.close();
  });

  it("that others have filled since the last read is avoided", async () => {
    const lab = await open(odcr(1));
    lab.cloud.reservations.splice(0, 1, odcr(0));
    scale(lab, 1);
    await pass(lab, 3 * MINUTE);
    expect(bought(lab)).toEqual(["on-demand"]);
    expect(runningPods(lab)).toBe(1);
    lab.close();
  });

  it("of type capacity block is drained before EC2 ends it", async () => {
    const lab = await open(odcr(1, { reservationType: "capacity-block" }));
    const endTime = new Date(lab.world.clock.now() + 60 * MINUTE).toISOString();
    lab.cloud.reservations.splice(0, 1, odcr(1, { reservationType: "capacity-block", endTime }));
    await pass(lab, MINUTE);
    scale(lab, 1);
    await pass(lab, 5 * MINUTE);
    expect(bought(lab)).toEqual(["reserved"]);
    await pass(lab, 25 * MINUTE);
    expect(bought(lab)).toEqual(["on-demand"]);
    expect(runningPods(lab)).toBe(1);
    await expectAccountedFor(lab, 1);
    lab.close();
  });

  it("that is no longer selected makes its nodes drift", async () => {
    const lab = await open(odcr(1));
    scale(lab, 1);
    await pass(lab, 3 * MINUTE);
    const [before = ""] = names(lab, "NodeClaim");
    lab.cloud.reservations.splice(0, 1);
    await pass(lab, 10 * MINUTE);
    expect(names(lab, "NodeClaim")).not.toContain(before);
    expect(bought(lab)).toEqual(["on-demand"]);
    lab.close();
  });
});
