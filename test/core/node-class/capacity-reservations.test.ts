import { describe, expect, it } from "vitest";
import type { NodeClaimRecord } from "#core/model/node-claim-record.ts";
import { isExpiring, resolveReservations, standingIn } from "#core/node-class/capacity-reservations.ts";
import { heldReservations } from "#core/offerings/reservations.ts";
import type { CapacityReservation } from "#core/ports/cloud-inventory.ts";

const NOW = Date.parse("2026-11-21T12:00:00Z");
const MINUTE = 60_000;

function found(id: string, over: Partial<CapacityReservation> = {}): CapacityReservation {
  return {
    ...{ id, zone: "us-west-2a", instanceType: "m5.large", instanceMatchCriteria: "open", ownerID: "111122223333" },
    ...{ reservationType: "default", interruptible: false, availableInstances: 3 },
    ...over,
  };
}

const endingIn = (ms: number) => new Date(NOW + ms).toISOString();

describe("resolveReservations", () => {
  it("resolveReservations lists each reservation once, by id, without expired ones", () => {
    const listed = resolveReservations(
      [found("cr-2"), found("cr-1"), found("cr-2"), found("cr-0", { endTime: endingIn(0) })],
      new Map(),
      NOW,
    );
    expect(listed.map(({ id }) => id)).toEqual(["cr-1", "cr-2"]);
    expect(listed[0]).toMatchObject({ availabilityZone: "us-west-2a", state: "active", usableInstanceCount: 3 });
  });

  it("resolveReservations counts our own instances as usable, so that our launches change nothing", () => {
    const usable = (available: number, held: number) =>
      resolveReservations([found("cr-1", { availableInstances: available })], new Map([["cr-1", held]]), NOW)[0]?.usableInstanceCount;
    expect(usable(3, 1)).toBe(4);
    expect(usable(2, 2)).toBe(4);
  });

  it.for([
    { reservationType: "capacity-block" as const, minutes: 40, want: true },
    { reservationType: "capacity-block" as const, minutes: 41, want: false },
    { reservationType: "default" as const, minutes: 1, want: false },
  ])("a $reservationType reservation that ends in $minutes minutes is expiring: $want", ({ reservationType, minutes, want }) => {
    const endTime = endingIn(minutes * MINUTE);
    expect(isExpiring({ reservationType, endTime }, NOW)).toBe(want);
    expect(resolveReservations([found("cr-1", { reservationType, endTime })], new Map(), NOW)[0]?.state).toBe(want ? "expiring" : "active");
  });
});

describe("a cluster's use of reservations", () => {
  const record = (fields: object): NodeClaimRecord =>
    ({ manifest: { metadata: { name: "x" }, spec: { requirements: [] } }, ...fields }) as unknown as NodeClaimRecord;
  const wants = (...values: string[]) => ({
    manifest: { spec: { requirements: [{ key: "karpenter.k8s.aws/capacity-reservation-id", operator: "In", values }] } },
  });
  const standing = record({ instance: { reservationId: "cr-1" } });
  const asked = record({
    launch: { launchTemplates: [{ reservation: { id: "cr-1" } }, { reservation: { id: "cr-1" } }, { reservation: { id: "cr-2" } }] },
  });
  const planned = record(wants("cr-2", "cr-3"));

  it("a cluster uses reservations for running, requested and planned instances", () => {
    expect(heldReservations([standing, asked, planned, record({})])).toEqual(
      new Map([
        ["cr-1", 2],
        ["cr-2", 2],
        ["cr-3", 1],
      ]),
    );
  });

  it("a NodeClaim that terminates before its launch, or launched elsewhere, uses no reservation", () => {
    expect(heldReservations([record({ ...wants("cr-1"), terminating: {} }), record({ ...wants("cr-1"), instance: {} })])).toEqual(
      new Map(),
    );
  });

  it("an instance counts in standingIn only after its launch", () => {
    expect(standingIn([standing, asked, planned])).toEqual(new Map([["cr-1", 1]]));
  });
});
