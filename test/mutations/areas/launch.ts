import type { Mutation } from "../mutation.ts";

const RESERVED = ["test/core/launch/reserved.test.ts"];
const RESERVATIONS = ["test/core/node-class/capacity-reservations.test.ts"];
const PLACEMENT = ["test/core/launch/placement.test.ts"];
const SUITS = ["test/core/offerings/suits.test.ts"];
const ADDRESSES = ["test/core/launch/free-addresses.test.ts"];
const GOLDEN = ["test/core/launch/golden.test.ts"];
const BATCH = ["test/functions/adapters/aws/batch.test.ts"];

/** Rules of a launch (launch.md, ec2nodeclass.md), each broken in the place that keeps it. */
export const MUTATIONS: readonly Mutation[] = [
  {
    name: "reserved-first",
    rule: "what is paid for is used before anything is bought",
    file: "core/launch/filter.ts",
    from: "let paid = reservedFirst(usable);",
    to: "let paid = unreserved(usable);",
    tests: RESERVED,
  },
  {
    name: "reserved-min-values",
    rule: "minValues comes before what is paid for",
    file: "core/launch/filter.ts",
    from: "if (unmet(paid, minValues) !== undefined) paid",
    to: "if (minValues.size > 99) paid",
    tests: RESERVED,
  },
  {
    name: "reserved-roomiest",
    rule: "of the reservations of a type in a zone that with most left is taken",
    file: "core/launch/reserved.ts",
    from: "(offering.reservationCapacity ?? 0) > (rival.reservationCapacity ?? 0)",
    to: "(offering.reservationCapacity ?? 0) < (rival.reservationCapacity ?? 0)",
    tests: RESERVED,
  },
  {
    name: "reserved-held",
    rule: "what other claims hold of a reservation cannot be had again",
    file: "core/offerings/reservations.ts",
    from: "usableInstanceCount - facts.held",
    to: "usableInstanceCount",
    tests: RESERVED,
  },
  {
    name: "reserved-opt-out",
    rule: "machines that are bought stay out of open reservations",
    file: "core/launch/fleet-request.ts",
    from: 'reservation: "none" as const',
    to: "reservation: undefined as never",
    tests: RESERVED,
  },
  {
    name: "reservation-own",
    rule: "machines of ours that stand in a reservation count as usable",
    file: "core/node-class/capacity-reservations.ts",
    from: "availableInstances + (held.get(id) ?? 0)",
    to: "availableInstances",
    tests: RESERVATIONS,
  },
  {
    name: "reservation-default-end",
    rule: "EC2 empties capacity blocks before their end, and no other reservation",
    file: "core/node-class/capacity-reservations.ts",
    from: 'reservationType === "capacity-block" && endTime',
    to: "endTime",
    tests: RESERVATIONS,
  },
  {
    name: "group-marks",
    rule: "what a placement group has no room for is marked for that group alone",
    file: "core/launch/marks.ts",
    from: "zone: placeIn(where, placementGroup)",
    to: "zone: where",
    tests: PLACEMENT,
  },
  {
    name: "group-partition",
    rule: "a partition is named only where the claim leaves no choice",
    file: "core/launch/fleet-request.ts",
    from: "wanted.values.size !== 1",
    to: "wanted.values.size < 1",
    tests: PLACEMENT,
  },
  {
    name: "suits-device",
    rule: "a card takes so many devices and no more",
    file: "core/offerings/suits.ts",
    from: "deviceIndex < (cards",
    to: "deviceIndex <= (cards",
    tests: SUITS,
  },
  {
    name: "addresses-in-flight",
    rule: "launches under way take addresses",
    file: "core/launch/free-addresses.ts",
    from: "if (instance !== undefined || launch === undefined) continue;",
    to: "if (instance !== undefined || launch !== undefined) continue;",
    tests: ADDRESSES,
  },
  {
    name: "user-data-last",
    rule: "our part of the user data goes last, so that it wins",
    file: "core/launch/user-data.ts",
    from: "[...userParts(input.userData, looksLikeYamlMap), { contentType: NODE_CONFIG, body: nodeConfig(input) }]",
    to: "[{ contentType: NODE_CONFIG, body: nodeConfig(input) }, ...userParts(input.userData, looksLikeYamlMap)]",
    tests: GOLDEN,
  },
  {
    name: "throttle-storm",
    rule: "a throttle is not answered with more calls",
    file: "functions/adapters/aws/batch.ts",
    from: "keys.size > 1 && blame(error)",
    to: "keys.size > 1",
    tests: BATCH,
  },
];
