import type { Fault } from "../fault.ts";

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
export const FAULTS: readonly Fault[] = [
  {
    name: "refused-after-lost-answer",
    rule: "a refused launch is looked for in EC2, because an earlier call with its token may have succeeded",
    edits: [
      {
        file: "functions/lifecycle/launch/launch.ts",
        find: 'const instance = await launchedInstance(deps.fleet, deps.cluster.name, claim.metadata.uid ?? "");',
        replace: 'const instance = undefined as NodeClaimRecord["instance"];',
      },
    ],
    foundBy: "unit",
    within: LOST_LAUNCHES,
  },
  {
    name: "refused-before-listed",
    rule: "a refused launch keeps its token until EC2 must list what an earlier call launched",
    edits: [{ file: "functions/lifecycle/launch/launch.ts", find: "isKnown ? rest : record,", replace: "isKnown ? rest : rest," }],
    foundBy: "unit",
    within: LOST_LAUNCHES,
  },
  {
    name: "zones-of-one-price",
    rule: "NodeClaims of one plan are spread over the zones of offerings with one price",
    edits: [{ file: "core/launch/template-groups.ts", find: "zoneOrder(a.zone) - zoneOrder(b.zone)", replace: "0" }],
    foundBy: "unit",
    within: REQUEST,
  },
  {
    name: "window-grows",
    rule: "the batching window is counted from the last pod",
    edits: [{ file: "core/passes/batching-window.ts", find: "Math.max(...coming) + idleMs", replace: "Math.min(...coming) + idleMs" }],
    foundBy: "unit",
    within: WINDOW,
  },
  {
    name: "window-longest",
    rule: "the batching window ends BATCH_MAX_DURATION after its first pod",
    edits: [{ file: "core/passes/batching-window.ts", find: "first + maxMs", replace: "now + maxMs" }],
    foundBy: "unit",
    within: WINDOW,
  },
  {
    name: "look-without-claims",
    rule: "a plan is not repeated when no NodeClaim is on its way",
    edits: [
      {
        file: "core/passes/next-plan.ts",
        find: "const isJoining = joining(records, now).length > 0;",
        replace: "const isJoining = records.length > 0;",
      },
    ],
    foundBy: "unit",
    within: LOOK,
  },
  {
    name: "look-at-the-end-of-marks",
    rule: "pods that wait for an offering are planned again when its mark ends",
    edits: [
      {
        file: "functions/provision/plan.ts",
        find: "await planAgain({ ...state, records: known }, deps, plan.retriedAt);",
        replace: "await planAgain({ ...state, records: known }, deps);",
      },
    ],
    foundBy: "unit",
    within: LOST_LAUNCHES,
  },
  {
    name: "marks-without-cause",
    rule: "what EC2 said about a launch reaches the NodeClaim and the pods",
    edits: [{ file: "core/launch/marks.ts", find: "{ ...offering, cause: causeOf(error) }", replace: "offering" }],
    foundBy: "unit",
    within: LOST_LAUNCHES,
  },
  {
    name: "reserved-first",
    rule: "reserved capacity is used before on-demand and spot",
    edits: [{ file: "core/launch/filter.ts", find: "let paid = reservedFirst(usable);", replace: "let paid = unreserved(usable);" }],
    foundBy: "unit",
    within: RESERVED,
  },
  {
    name: "reserved-min-values",
    rule: "minValues is more important than reserved capacity",
    edits: [
      { file: "core/launch/filter.ts", find: "if (unmet(paid, minValues) !== undefined) paid", replace: "if (minValues.size > 99) paid" },
    ],
    foundBy: "unit",
    within: RESERVED,
  },
  {
    name: "reserved-roomiest",
    rule: "of the reservations of a type in a zone, the one with most instances left is used",
    edits: [
      {
        file: "core/launch/reserved.ts",
        find: "(offering.reservationCapacity ?? 0) > (rival.reservationCapacity ?? 0)",
        replace: "(offering.reservationCapacity ?? 0) < (rival.reservationCapacity ?? 0)",
      },
    ],
    foundBy: "unit",
    within: RESERVED,
  },
  {
    name: "reserved-held",
    rule: "instances of a reservation that other NodeClaims use are not available",
    edits: [{ file: "core/offerings/reservations.ts", find: "usableInstanceCount - facts.held", replace: "usableInstanceCount" }],
    foundBy: "unit",
    within: RESERVED,
  },
  {
    name: "reserved-opt-out",
    rule: "instances that are not reserved stay out of open reservations",
    edits: [{ file: "core/launch/fleet-request.ts", find: 'reservation: "none" as const', replace: "reservation: undefined as never" }],
    foundBy: "unit",
    within: RESERVED,
  },
  {
    name: "reservation-own",
    rule: "our own instances in a reservation count as usable",
    edits: [
      { file: "core/node-class/capacity-reservations.ts", find: "availableInstances + (held.get(id) ?? 0)", replace: "availableInstances" },
    ],
    foundBy: "unit",
    within: RESERVATIONS,
  },
  {
    name: "reservation-default-end",
    rule: "EC2 terminates the instances of capacity blocks before their end, and of no other reservation",
    edits: [
      { file: "core/node-class/capacity-reservations.ts", find: 'reservationType === "capacity-block" && endTime', replace: "endTime" },
    ],
    foundBy: "unit",
    within: RESERVATIONS,
  },
  {
    name: "group-marks",
    rule: "missing capacity in a placement group is marked only for that group",
    edits: [{ file: "core/launch/marks.ts", find: "zone: placeIn(where, placementGroup)", replace: "zone: where" }],
    foundBy: "unit",
    within: PLACEMENT,
  },
  {
    name: "group-partition",
    rule: "a partition is named only when the NodeClaim allows a single one",
    edits: [{ file: "core/launch/fleet-request.ts", find: "wanted.values.size !== 1", replace: "wanted.values.size < 1" }],
    foundBy: "unit",
    within: PLACEMENT,
  },
  {
    name: "suits-device",
    rule: "a network card takes a limited number of devices",
    edits: [{ file: "core/offerings/suits.ts", find: "deviceIndex < (cards", replace: "deviceIndex <= (cards" }],
    foundBy: "unit",
    within: SUITS,
  },
  {
    name: "addresses-in-flight",
    rule: "launches in progress use addresses",
    edits: [
      {
        file: "core/launch/free-addresses.ts",
        find: "if (instance !== undefined || launch === undefined) continue;",
        replace: "if (instance !== undefined || launch !== undefined) continue;",
      },
    ],
    foundBy: "unit",
    within: ADDRESSES,
  },
  {
    name: "user-data-last",
    rule: "our part of the user data is the last one, so that it wins",
    edits: [
      {
        file: "core/launch/user-data.ts",
        find: "[...userParts(input.userData, looksLikeYamlMap), { contentType: NODE_CONFIG, body: nodeConfig(input) }]",
        replace: "[{ contentType: NODE_CONFIG, body: nodeConfig(input) }, ...userParts(input.userData, looksLikeYamlMap)]",
      },
    ],
    foundBy: "unit",
    within: GOLDEN,
  },
  {
    name: "throttle-storm",
    rule: "a throttled call is not followed by more calls",
    edits: [{ file: "adapters/aws/batch.ts", find: "keys.size > 1 && blame(error)", replace: "keys.size > 1" }],
    foundBy: "unit",
    within: BATCH,
  },
  {
    name: "a launch that the history does not tell",
    rule: "the history has an entry for each launch",
    edits: [
      {
        file: "functions/lifecycle/launch/launch.ts",
        find: "const stored = await store.update(launched, launchedEntries(launched, now()));",
        replace: "const stored = await deps.store.update(launched, launchedEntries(launched, deps.now()).slice(0, 0));",
      },
    ],
    foundBy: "simulation",
    within: 10,
  },
  {
    name: "NodeClaims given up at the first launch that is to be tried again",
    rule: "a launch that failed for a while is tried again until the launch time-out",
    edits: [
      {
        file: "core/lifecycle/launch.ts",
        find: "const retryAt = record.launchFailedAt === undefined ? 0 : record.launchFailedAt + LAUNCH_RETRY_MS;",
        replace:
          'if (record.launchFailedAt !== undefined) return markTerminating(view, record, "launch_timeout");\n  const retryAt = 0 * LAUNCH_RETRY_MS;',
      },
    ],
    foundBy: "simulation",
    within: 60,
  },
  {
    name: "NodeClaims given up by the clock alone",
    rule: "a NodeClaim whose group has an instance for it is not given up",
    edits: [
      {
        file: "core/lifecycle/time-limits.ts",
        find: "if (group && instanceFor(group, record.name)) return false;",
        replace: "if (now - launchableSince(record, group) > LAUNCH_TIMEOUT_MS) return true;",
      },
    ],
    foundBy: "simulation",
    within: 40,
  },
  {
    name: "missing client token: each CreateFleet is a new one",
    rule: "each try of a launch sends the same client token",
    edits: [
      {
        file: "functions/lifecycle/launch/launch.ts",
        find: "deps.fleet.launch(request)",
        replace: "deps.fleet.launch({ ...request, clientToken: deps.newId() })",
      },
    ],
    foundBy: "simulation",
    within: 40,
  },
  {
    name: "each member sends the launch of its group under a token of its own",
    rule: "all members of a launch group send the same client token",
    edits: [
      {
        file: "functions/lifecycle/launch/launch-group.ts",
        find: "deps.fleet.launch(launch.request)",
        replace: "deps.fleet.launch({ ...launch.request, clientToken: deps.newId() })",
      },
    ],
    foundBy: "simulation",
    within: 300,
  },
  {
    name: "each member takes the first instance of its group",
    rule: "each member of a launch group takes an instance of its own",
    edits: [
      { file: "core/launch-group/answer.ts", find: "const instance = sorted[i];", replace: "const instance = sorted[i] && sorted[0];" },
    ],
    foundBy: "simulation",
    within: 40,
  },
  {
    name: "no intent before launch: EC2 is asked, then the request stored",
    rule: "the request of a launch is stored before EC2 is asked",
    edits: [
      {
        file: "functions/lifecycle/launch/launch.ts",
        find: "  const stored = await deps.store.update({\n    ...rest,\n    uid,\n    launch: rendered.ok.request,",
        replace:
          "  await deps.fleet.launch(rendered.ok.request);\n  const stored = await deps.store.update({\n    ...rest,\n    uid,\n    launch: rendered.ok.request,",
      },
    ],
    foundBy: "simulation",
    within: 20,
  },
  {
    name: "capacity that ran out is not marked",
    rule: "an offering without capacity is marked unavailable",
    edits: [
      {
        file: "functions/lifecycle/launch/launch-group.ts",
        find: "if (unavailable.length > 0) await deps.store.markUnavailable(deps.cluster.name, unavailable);",
        replace: "",
      },
    ],
    foundBy: "simulation",
    within: 20,
  },
  {
    name: "refused launch rendered anew, though an earlier call may have succeeded",
    rule: "a refused launch is rendered again only when no instance of an earlier call exists",
    edits: [
      {
        file: "functions/lifecycle/launch/launch.ts",
        find: 'const instance = await launchedInstance(deps.fleet, deps.cluster.name, claim.metadata.uid ?? "");',
        replace: 'const instance = undefined as NodeClaimRecord["instance"];',
      },
      { file: "functions/lifecycle/launch/launch.ts", find: "isKnown ? rest : record,", replace: "isKnown ? rest : rest," },
    ],
    foundBy: "simulation",
    within: 60,
  },
  {
    name: "reservations that are full not marked",
    rule: "a full capacity reservation is marked unavailable",
    edits: [
      {
        file: "core/launch/marks.ts",
        find: "else if (reservation !== undefined) mark(reservationMark(reservation.id, expiresAt));",
        replace: 'else if (reservation !== undefined) mark(reservationMark("none", expiresAt));',
      },
    ],
    foundBy: "simulation",
    within: 100,
  },
];
