import type { Fault } from "../fault.ts";

const REHEARSAL = ["test/core/insight/what-if/rehearse.test.ts"];
const CHANGE = ["test/core/insight/what-if/change.test.ts"];
const ANSWER = ["test/core/insight/what-if/what-if.test.ts"];
const DRAIN = ["test/core/insight/what-if/drain-time.test.ts"];
const FILES = ["test/cli/what-if/what-if.test.ts"];
const LIVE = ["test/cli/what-if/live.test.ts"];

/** Rules of what-if: a rehearsal decides as the product does, and a live cluster is only read. */
export const FAULTS: readonly Fault[] = [
  {
    name: "only-reads",
    rule: "a live cluster is only read",
    edits: [{ file: "adapters/kubernetes/read-only.ts", find: 'request.method !== "GET" &&', replace: 'request.method === "POST" &&' }],
    foundBy: "unit",
    within: LIVE,
  },
  {
    name: "secrets",
    rule: "annotations that decide nothing are left out of a saved snapshot",
    edits: [{ file: "core/insight/kept-fields.ts", find: ".filter(([key]) => READ_ANNOTATIONS.test(key))", replace: "" }],
    foundBy: "unit",
    within: FILES,
  },
  {
    name: "user-data",
    rule: "user data is left out of a saved snapshot",
    edits: [{ file: "cli/what-if/save.ts", find: "nodeClasses: nodeClasses.map(withoutUserData)", replace: "nodeClasses" }],
    foundBy: "unit",
    within: FILES,
  },
  {
    name: "observe-replacement-is-demand",
    rule: "a pod of a Job that was evicted is no new demand",
    edits: [
      { file: "core/insight/observed/runs.ts", find: "const REPLACED_WITHIN_MS = 120_000;", replace: "const REPLACED_WITHIN_MS = 0;" },
    ],
    foundBy: "unit",
    within: ["test/observe/demand.test.ts"],
  },
  {
    name: "observe-eviction-is-demand",
    rule: "an evicted pod of a ReplicaSet counts as moved",
    edits: [{ file: "core/insight/observed/pods.ts", find: "else if (isNew && counts)", replace: "else if (isNew && !counts)" }],
    foundBy: "unit",
    within: ["test/observe/demand.test.ts"],
  },
  {
    name: "observe-writes",
    rule: "the client of a recording passes on nothing but GET",
    edits: [{ file: "adapters/kubernetes/read-only.ts", find: 'if (method !== "GET") throw', replace: 'if (method === "") throw' }],
    foundBy: "unit",
    within: ["test/observe/record.test.ts"],
  },
  {
    name: "pods-are-evicted",
    rule: "pods of a removed node become pending",
    edits: [
      {
        file: "core/insight/what-if/stage.ts",
        find: ".filter((pod) => isThere(pod) && isReschedulable(pod))",
        replace: ".filter((pod) => isThere(pod) && !isReschedulable(pod))",
      },
    ],
    foundBy: "unit",
    within: REHEARSAL,
  },
  {
    name: "replacement-first",
    rule: "a command waits for its replacements",
    edits: [
      {
        file: "core/insight/what-if/rehearse.ts",
        find: 'return phase === "Replacing" && replacementClaims.some((name) => coming.has(name));',
        replace: "return false;",
      },
    ],
    foundBy: "unit",
    within: [...REHEARSAL, ...ANSWER],
  },
  {
    name: "up-time",
    rule: "a node is initialized a minute after the decision",
    edits: [
      {
        file: "core/insight/what-if/stage.ts",
        find: "coming.set(name, { at: snapshot.now + UP_MS,",
        replace: "coming.set(name, { at: snapshot.now,",
      },
    ],
    foundBy: "unit",
    within: REHEARSAL,
  },
  {
    name: "pod-events",
    rule: "consolidateAfter counts from a node's last pod event, whatever its condition says",
    edits: [
      {
        file: "core/insight/what-if/start.ts",
        find: 'conditions: withoutCondition(conditions, "Consolidatable"),',
        replace: "conditions,",
      },
    ],
    foundBy: "unit",
    within: REHEARSAL,
  },
  {
    name: "pod-event",
    rule: "the last pod event of a NodeClaim counts before its condition",
    edits: [
      {
        file: "core/insight/what-if/start.ts",
        find: "lastPodEventTime === undefined ? derived : fromRfc3339(lastPodEventTime)",
        replace: "derived",
      },
    ],
    foundBy: "unit",
    within: REHEARSAL,
  },
  {
    name: "look-ahead",
    rule: "a rehearsal does not wait beyond its look-ahead",
    edits: [
      { file: "core/insight/what-if/rehearse.ts", find: "if (next === undefined || next > until) {", replace: "if (next === undefined) {" },
    ],
    foundBy: "unit",
    within: REHEARSAL,
  },
  {
    name: "budget-rounds",
    rule: "a PodDisruptionBudget prolongs a drain",
    edits: [{ file: "core/insight/what-if/drain-time.ts", find: "return Math.max(1, ...rounds);", replace: "return 1;" }],
    foundBy: "unit",
    within: DRAIN,
  },
  {
    name: "grace",
    rule: "a terminationGracePeriod bounds a drain",
    edits: [{ file: "core/insight/what-if/drain-time.ts", find: "Math.min(drained, now + grace)", replace: "drained" }],
    foundBy: "unit",
    within: DRAIN,
  },
  {
    name: "foreign-hash",
    rule: "a claim with another hash version counts as made from the NodePool before the change",
    edits: [
      {
        file: "core/insight/what-if/change.ts",
        find: "own === undefined || own === ours ? hashes.old : own",
        replace: 'own === undefined ? "" : own',
      },
    ],
    foundBy: "unit",
    within: CHANGE,
  },
  {
    name: "machine-drift",
    rule: "drift that depends on the instance is not ended by a change of definitions",
    edits: [{ file: "core/insight/what-if/change.ts", find: "return found ?? kept;", replace: "return found;" }],
    foundBy: "unit",
    within: CHANGE,
  },
  {
    name: "deleted-pool",
    rule: "a deleted NodePool deletes its nodes",
    edits: [
      {
        file: "core/insight/what-if/change.ts",
        find: "if (deleted.has(nodePool)) return",
        replace: "if (deleted.has(nodePool) && before.now === 0) return",
      },
    ],
    foundBy: "unit",
    within: CHANGE,
  },
  {
    name: "compared-with-anyway",
    rule: "a change is compared with the course without it",
    edits: [
      {
        file: "cli/what-if/report.ts",
        find: "difference(unchanged.bill.pricePerHour, changed.bill.pricePerHour)",
        replace: "difference(today.pricePerHour, unchanged.bill.pricePerHour)",
      },
    ],
    foundBy: "unit",
    within: FILES,
  },
];
