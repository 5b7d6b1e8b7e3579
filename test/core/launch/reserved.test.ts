import { describe, expect, it } from "vitest";
import { renderLaunch } from "#core/launch/fleet-request.ts";
import { knownInstance, launchedAs, readOutcome } from "#core/launch/outcome.ts";
import type { FleetRequest } from "#core/model/fleet.ts";
import type { ResolvedReservation } from "#core/model/node-class.ts";
import type { UnavailableOffering } from "#core/model/unavailable-offering.ts";
import { reservationMark } from "#core/offerings/unavailable.ts";
import { claim, cluster, nodeClass, typesOf } from "./support.ts";

const NOW = Date.parse("2026-11-21T12:00:00Z");

function reservation(id: string, over: Partial<ResolvedReservation> = {}): ResolvedReservation {
  return {
    ...{ id, availabilityZone: "us-west-2a", instanceType: "m5.large", instanceMatchCriteria: "targeted", ownerID: "111122223333" },
    ...{ reservationType: "default", interruptible: false, state: "active", usableInstanceCount: 2 },
    ...over,
  };
}

interface Case {
  readonly reservations: readonly ResolvedReservation[];
  readonly held?: Readonly<Record<string, number>>;
  readonly capacityTypes?: readonly string[];
  readonly types?: readonly string[];
  readonly minValues?: number;
  readonly unavailable?: readonly UnavailableOffering[];
}

function render({ reservations, held = {}, capacityTypes = ["reserved", "on-demand", "spot"], types, minValues, unavailable = [] }: Case) {
  const made = nodeClass({ status: { ...nodeClass().status, capacityReservations: reservations } });
  const instanceTypes = typesOf({ nodeClass: made, unavailable, held: new Map(Object.entries(held)) });
  const requirements = [
    {
      key: "node.kubernetes.io/instance-type",
      operator: "In" as const,
      values: types ?? ["m5.large", "m5.xlarge", "m6g.large", "p4d.24xlarge"],
      ...(minValues !== undefined && { minValues }),
    },
    { key: "karpenter.sh/capacity-type", operator: "In" as const, values: capacityTypes },
  ];
  const input = { nodeClass: made, instanceTypes, cluster, attempt: 0, unavailable, reservedCapacity: true };
  return renderLaunch({ ...input, claim: claim({ spec: { requirements } }), record: { uid: "u" } });
}

function sent(test: Case) {
  const rendered = render(test);
  if ("error" in rendered) return rendered.error.kind;
  const { capacityType, launchTemplates } = rendered.ok.request;
  const into = launchTemplates.map(
    ({ reservation, overrides }) =>
      `${reservation?.id}: ${overrides
        .map((o) => `${o.instanceType} ${o.zone.slice(-1)}`)
        .sort()
        .join(", ")}`,
  );
  return [capacityType, ...into.sort()];
}

describe("a launch into reserved capacity", () => {
  it.for<{ name: string; test: Case; want: readonly string[] | string }>([
    {
      name: "a launch uses reserved capacity before on-demand and spot",
      test: { reservations: [reservation("cr-1")] },
      want: ["reserved", "cr-1: m5.large a"],
    },
    {
      name: "a launch names the reservation with most instances left for each type and zone",
      test: {
        reservations: [
          reservation("cr-1"),
          reservation("cr-2", { usableInstanceCount: 5 }),
          reservation("cr-3", { availabilityZone: "us-west-2b" }),
          reservation("cr-4", { instanceType: "m5.xlarge" }),
        ],
      },
      want: ["reserved", "cr-2: m5.large a", "cr-3: m5.large b", "cr-4: m5.xlarge a"],
    },
    {
      name: "a launch counts instances that other NodeClaims use in a reservation",
      test: { reservations: [reservation("cr-1"), reservation("cr-2", { usableInstanceCount: 5 })], held: { "cr-2": 4 } },
      want: ["reserved", "cr-1: m5.large a"],
    },
    {
      name: "a launch uses one kind of reservation, interruptible ones last",
      test: { reservations: [reservation("cr-1", { interruptible: true }), reservation("cr-2")] },
      want: ["reserved", "cr-2: m5.large a"],
    },
    {
      name: "a launch uses a single capacity block",
      test: {
        types: ["p4d.24xlarge"],
        reservations: ["us-west-2a", "us-west-2b"].map((availabilityZone, i) =>
          reservation(`cr-${i}`, { instanceType: "p4d.24xlarge", availabilityZone, reservationType: "capacity-block" }),
        ),
      },
      want: ["reserved", "cr-0: p4d.24xlarge a"],
    },
    {
      name: "a NodeClaim for reserved capacity only has no capacity when all of it is used",
      test: { reservations: [reservation("cr-1")], held: { "cr-1": 2 }, capacityTypes: ["reserved"] },
      want: "InsufficientCapacity",
    },
    {
      name: "a launch skips a reservation that was found full",
      test: {
        reservations: [reservation("cr-1"), reservation("cr-2", { usableInstanceCount: 9 })],
        unavailable: [reservationMark("cr-2", NOW)],
      },
      want: ["reserved", "cr-1: m5.large a"],
    },
    {
      name: "a launch skips an expiring capacity block",
      test: { reservations: [reservation("cr-1", { reservationType: "capacity-block", state: "expiring" })], capacityTypes: ["reserved"] },
      want: "InsufficientCapacity",
    },
    {
      name: "a launch meets minValues rather than using a single reserved type",
      test: {
        reservations: [reservation("cr-1")],
        capacityTypes: ["reserved", "on-demand"],
        types: ["m5.large", "m5.xlarge"],
        minValues: 2,
      },
      want: [
        "on-demand",
        ...["m5.large", "m5.xlarge"].map((type) => `undefined: ${["a", "b", "c", "d"].map((zone) => `${type} ${zone}`).join(", ")}`),
      ],
    },
    {
      name: "a launch uses reserved capacity when it meets minValues",
      test: {
        reservations: [reservation("cr-1"), reservation("cr-2", { instanceType: "m5.xlarge" })],
        types: ["m5.large", "m5.xlarge"],
        minValues: 2,
      },
      want: ["reserved", "cr-1: m5.large a", "cr-2: m5.xlarge a"],
    },
    {
      name: "a NodeClaim that excludes reserved capacity ignores reservations",
      test: { reservations: [reservation("cr-1")], capacityTypes: ["on-demand"], types: ["m5.large"] },
      want: ["on-demand", "undefined: m5.large a, m5.large b, m5.large c, m5.large d"],
    },
  ])("$name", ({ test, want }) => {
    expect(sent(test)).toEqual(want);
  });

  it("a template names its reservation, and other instances stay out of open reservations", () => {
    const reserved = render({ reservations: [reservation("cr-1")] });
    const bought = render({ reservations: [], capacityTypes: ["on-demand"] });
    expect("ok" in reserved && reserved.ok.templates[0]?.reservation).toEqual({ id: "cr-1", type: "default", interruptible: false });
    expect("ok" in bought && bought.ok.templates.map((template) => template.reservation)).toContain("none");
  });
});

describe("an instance in reserved capacity", () => {
  const rendered = render({ reservations: [reservation("cr-1")] });
  if ("error" in rendered) throw new Error(rendered.error.message);
  const { request } = rendered.ok as { readonly request: FleetRequest };
  const place = { instanceType: "m5.large", zone: "us-west-2a" };
  const made = nodeClass({ status: { ...nodeClass().status, capacityReservations: [reservation("cr-1")] } });
  const context = { claim: claim(), nodeClass: made, instanceTypes: typesOf({ nodeClass: made }) };

  it("a launched NodeClaim has the labels of its reservation", () => {
    const instance = knownInstance(request, { id: "i-1", ...place, capacityType: "on-demand", imageId: "ami-amd" });
    expect(instance).toMatchObject({ capacityType: "reserved", reservationId: "cr-1" });
    expect(launchedAs(instance, context).labels).toMatchObject({
      "karpenter.sh/capacity-type": "reserved",
      "karpenter.k8s.aws/capacity-reservation-id": "cr-1",
      "karpenter.k8s.aws/capacity-reservation-type": "default",
      "karpenter.k8s.aws/capacity-reservation-interruptible": "false",
    });
  });

  it.for([
    "ReservationCapacityExceeded",
    "InvalidCapacityReservationId.NotFound",
    "InvalidCapacityReservationState.Unavailable",
    "InsufficientInstanceCapacity",
  ])("the error %s marks the reservation", (code) => {
    const errors = [{ code, message: "full", ...place, capacityType: "reserved" as const }];
    const outcome = readOutcome(request, { errors }, NOW, context);
    expect(outcome.unavailable).toEqual([{ ...reservationMark("cr-1", NOW + 180_000), cause: { code, message: "full" } }]);
    expect(outcome.failure?.kind).toBe("InsufficientCapacity");
  });
});
