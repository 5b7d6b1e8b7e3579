import type { Mutation } from "../mutation.ts";

const REHEARSAL = ["test/core/insight/what-if/rehearse.test.ts"];
const CHANGE = ["test/core/insight/what-if/change.test.ts"];
const ANSWER = ["test/core/insight/what-if/what-if.test.ts"];
const DRAIN = ["test/core/insight/what-if/drain-time.test.ts"];
const FILES = ["test/cli/what-if/what-if.test.ts"];
const LIVE = ["test/cli/what-if/live.test.ts"];

/** Rules of what-if: a rehearsal decides as the product does, and a live cluster is only read. */
export const MUTATIONS: readonly Mutation[] = [
  {
    name: "only-reads",
    rule: "a live cluster is only read",
    file: "adapters/kubernetes/read-only.ts",
    from: 'request.method !== "GET" &&',
    to: 'request.method === "POST" &&',
    tests: LIVE,
  },
  {
    name: "secrets",
    rule: "annotations that decide nothing are left out of a saved snapshot",
    file: "cli/what-if/save.ts",
    from: "filter(([key]) => READ_ANNOTATIONS.test(key))",
    to: "filter(() => true)",
    tests: FILES,
  },
  {
    name: "user-data",
    rule: "user data is left out of a saved snapshot",
    file: "cli/what-if/save.ts",
    from: "nodeClasses: nodeClasses.map(withoutUserData)",
    to: "nodeClasses",
    tests: FILES,
  },
  {
    name: "pods-are-evicted",
    rule: "pods of a removed node become pending",
    file: "core/insight/what-if/stage.ts",
    from: ".filter((pod) => isThere(pod) && isReschedulable(pod))",
    to: ".filter((pod) => isThere(pod) && !isReschedulable(pod))",
    tests: REHEARSAL,
  },
  {
    name: "replacement-first",
    rule: "a command waits for its replacements",
    file: "core/insight/what-if/rehearse.ts",
    from: 'return phase === "Replacing" && replacementClaims.some((name) => coming.has(name));',
    to: "return false;",
    tests: [...REHEARSAL, ...ANSWER],
  },
  {
    name: "up-time",
    rule: "a node is initialized a minute after the decision",
    file: "core/insight/what-if/stage.ts",
    from: "coming.set(name, { at: snapshot.now + UP_MS,",
    to: "coming.set(name, { at: snapshot.now,",
    tests: REHEARSAL,
  },
  {
    name: "pod-events",
    rule: "consolidateAfter counts from a node's last pod event, whatever its condition says",
    file: "core/insight/what-if/start.ts",
    from: 'conditions: withoutCondition(conditions, "Consolidatable"),',
    to: "conditions,",
    tests: REHEARSAL,
  },
  {
    name: "records",
    rule: "the pod event of a record counts where it is later than that of the claim",
    file: "core/insight/what-if/start.ts",
    from: "const told = [record?.lastPodEventAt ?? Number.NaN, ",
    to: "const told = [",
    tests: REHEARSAL,
  },
  {
    name: "look-ahead",
    rule: "a rehearsal does not wait beyond its look-ahead",
    file: "core/insight/what-if/rehearse.ts",
    from: "if (next === undefined || next > until) {",
    to: "if (next === undefined) {",
    tests: REHEARSAL,
  },
  {
    name: "budget-rounds",
    rule: "a PodDisruptionBudget prolongs a drain",
    file: "core/insight/what-if/drain-time.ts",
    from: "return Math.max(1, ...rounds);",
    to: "return 1;",
    tests: DRAIN,
  },
  {
    name: "grace",
    rule: "a terminationGracePeriod bounds a drain",
    file: "core/insight/what-if/drain-time.ts",
    from: "Math.min(drained, now + grace)",
    to: "drained",
    tests: DRAIN,
  },
  {
    name: "foreign-hash",
    rule: "a claim with another hash version counts as made from the NodePool before the change",
    file: "core/insight/what-if/change.ts",
    from: "own === undefined || own === ours ? hashes.old : own",
    to: 'own === undefined ? "" : own',
    tests: CHANGE,
  },
  {
    name: "machine-drift",
    rule: "drift that depends on the instance is not ended by a change of definitions",
    file: "core/insight/what-if/change.ts",
    from: "return found ?? kept;",
    to: "return found;",
    tests: CHANGE,
  },
  {
    name: "deleted-pool",
    rule: "a deleted NodePool deletes its nodes",
    file: "core/insight/what-if/change.ts",
    from: "if (deleted.has(nodePool)) return",
    to: "if (deleted.has(nodePool) && before.now === 0) return",
    tests: CHANGE,
  },
  {
    name: "compared-with-anyway",
    rule: "a change is compared with the course without it",
    file: "cli/what-if/report.ts",
    from: "difference(unchanged.bill.pricePerHour, changed.bill.pricePerHour)",
    to: "difference(today.pricePerHour, unchanged.bill.pricePerHour)",
    tests: FILES,
  },
];
