import type { Mutation } from "../mutation.ts";

const RESERVED = ["test/core/launch/reserved.test.ts"];
const RESERVATIONS = ["test/core/node-class/capacity-reservations.test.ts"];
const PLACEMENT = ["test/core/launch/placement.test.ts"];
const SUITS = ["test/core/offerings/suits.test.ts"];
const ADDRESSES = ["test/core/launch/free-addresses.test.ts"];
const GOLDEN = ["test/core/launch/golden.test.ts"];
const BATCH = ["test/adapters/aws/batch.test.ts"];

const REQUEST = ["test/core/launch/fleet-request.test.ts"];
const WINDOW = ["test/core/passes/batching-window.test.ts"];
const LOOK = ["test/core/passes/next-plan.test.ts"];

const LOST_LAUNCHES = ["test/lab/lifecycle-stories.test.ts"];

/** Rules of a launch and of its time, each broken in the place that keeps it. */
export const MUTATIONS: readonly Mutation[] = [
  {
    name: "refused-after-lost-answer",
    rule: "a refused launch is looked for in EC2, because an earlier call with its token may have succeeded",
    file: "functions/lifecycle/launch/launch.ts",
    from: 'const instance = await launchedInstance(deps.fleet, deps.cluster.name, claim.metadata.uid ?? "");',
    to: 'const instance = undefined as NodeClaimRecord["instance"];',
    tests: LOST_LAUNCHES,
  },
  {
    name: "refused-before-listed",
    rule: "a refused launch keeps its token until EC2 must list what an earlier call launched",
    file: "functions/lifecycle/launch/launch.ts",
    from: "isKnown ? rest : record,",
    to: "isKnown ? rest : rest,",
    tests: LOST_LAUNCHES,
  },
  {
    name: "zones-of-one-price",
    rule: "NodeClaims of one plan are spread over the zones of offerings with one price",
    file: "core/launch/template-groups.ts",
    from: "zoneOrder(a.zone) - zoneOrder(b.zone)",
    to: "0",
    tests: REQUEST,
  },
  {
    name: "window-grows",
    rule: "the batching window is counted from the last pod",
    file: "core/passes/batching-window.ts",
    from: "Math.max(...coming) + idleMs",
    to: "Math.min(...coming) + idleMs",
    tests: WINDOW,
  },
  {
    name: "window-longest",
    rule: "the batching window ends BATCH_MAX_DURATION after its first pod",
    file: "core/passes/batching-window.ts",
    from: "first + maxMs",
    to: "now + maxMs",
    tests: WINDOW,
  },
  {
    name: "look-without-claims",
    rule: "a plan is not repeated when no NodeClaim is on its way",
    file: "core/passes/next-plan.ts",
    from: "const isJoining = joining(records, now).length > 0;",
    to: "const isJoining = records.length > 0;",
    tests: LOOK,
  },
  {
    name: "reserved-first",
    rule: "reserved capacity is used before on-demand and spot",
    file: "core/launch/filter.ts",
    from: "let paid = reservedFirst(usable);",
    to: "let paid = unreserved(usable);",
    tests: RESERVED,
  },
  {
    name: "reserved-min-values",
    rule: "minValues is more important than reserved capacity",
    file: "core/launch/filter.ts",
    from: "if (unmet(paid, minValues) !== undefined) paid",
    to: "if (minValues.size > 99) paid",
    tests: RESERVED,
  },
  {
    name: "reserved-roomiest",
    rule: "of the reservations of a type in a zone, the one with most instances left is used",
    file: "core/launch/reserved.ts",
    from: "(offering.reservationCapacity ?? 0) > (rival.reservationCapacity ?? 0)",
    to: "(offering.reservationCapacity ?? 0) < (rival.reservationCapacity ?? 0)",
    tests: RESERVED,
  },
  {
    name: "reserved-held",
    rule: "instances of a reservation that other NodeClaims use are not available",
    file: "core/offerings/reservations.ts",
    from: "usableInstanceCount - facts.held",
    to: "usableInstanceCount",
    tests: RESERVED,
  },
  {
    name: "reserved-opt-out",
    rule: "instances that are not reserved stay out of open reservations",
    file: "core/launch/fleet-request.ts",
    from: 'reservation: "none" as const',
    to: "reservation: undefined as never",
    tests: RESERVED,
  },
  {
    name: "reservation-own",
    rule: "our own instances in a reservation count as usable",
    file: "core/node-class/capacity-reservations.ts",
    from: "availableInstances + (held.get(id) ?? 0)",
    to: "availableInstances",
    tests: RESERVATIONS,
  },
  {
    name: "reservation-default-end",
    rule: "EC2 terminates the instances of capacity blocks before their end, and of no other reservation",
    file: "core/node-class/capacity-reservations.ts",
    from: 'reservationType === "capacity-block" && endTime',
    to: "endTime",
    tests: RESERVATIONS,
  },
  {
    name: "group-marks",
    rule: "missing capacity in a placement group is marked only for that group",
    file: "core/launch/marks.ts",
    from: "zone: placeIn(where, placementGroup)",
    to: "zone: where",
    tests: PLACEMENT,
  },
  {
    name: "group-partition",
    rule: "a partition is named only when the NodeClaim allows a single one",
    file: "core/launch/fleet-request.ts",
    from: "wanted.values.size !== 1",
    to: "wanted.values.size < 1",
    tests: PLACEMENT,
  },
  {
    name: "suits-device",
    rule: "a network card takes a limited number of devices",
    file: "core/offerings/suits.ts",
    from: "deviceIndex < (cards",
    to: "deviceIndex <= (cards",
    tests: SUITS,
  },
  {
    name: "addresses-in-flight",
    rule: "launches in progress use addresses",
    file: "core/launch/free-addresses.ts",
    from: "if (instance !== undefined || launch === undefined) continue;",
    to: "if (instance !== undefined || launch !== undefined) continue;",
    tests: ADDRESSES,
  },
  {
    name: "user-data-last",
    rule: "our part of the user data is the last one, so that it wins",
    file: "core/launch/user-data.ts",
    from: "[...userParts(input.userData, looksLikeYamlMap), { contentType: NODE_CONFIG, body: nodeConfig(input) }]",
    to: "[{ contentType: NODE_CONFIG, body: nodeConfig(input) }, ...userParts(input.userData, looksLikeYamlMap)]",
    tests: GOLDEN,
  },
  {
    name: "throttle-storm",
    rule: "a throttled call is not followed by more calls",
    file: "adapters/aws/batch.ts",
    from: "keys.size > 1 && blame(error)",
    to: "keys.size > 1",
    tests: BATCH,
  },
];
