import type { Mutation } from "../mutation.ts";

const AMOUNTS = ["test/hostile/amounts.test.ts"];
const AUDIT = ["test/functions/audit/listen.test.ts"];
const BULKHEADS = ["test/hostile/bulkheads.test.ts"];
const KEYS = ["test/hostile/keys.test.ts"];
const NOTICES = ["test/core/interruption/concerns.test.ts"];

/** Rules that keep what one user writes from stopping the others, each broken in the line that keeps it. */
export const MUTATIONS: readonly Mutation[] = [
  {
    name: "inherited-key",
    rule: "a map has only the keys that were written into it",
    file: "core/lib/own-value.ts",
    from: "Object.hasOwn(map, key) ? map[key] : undefined",
    to: "map[key]",
    tests: KEYS,
  },
  {
    name: "inherited-label",
    rule: "a user's label key is looked up among the node's own labels",
    file: "core/scheduling/trial-cluster.ts",
    from: "ownValue(view?.labels, key)",
    to: "view?.labels[key]",
    tests: KEYS,
  },
  {
    name: "unreadable-limit",
    rule: "a NodePool whose limits cannot be read is left out of decisions",
    file: "core/set-aside/set-aside.ts",
    from: "const problem = resourcesProblem(limits);",
    to: "const problem = limits === null ? resourcesProblem(limits) : undefined;",
    tests: BULKHEADS,
  },
  {
    name: "unreadable-pod",
    rule: "the node of a running pod that cannot be read takes no further pods",
    file: "core/set-aside/set-aside.ts",
    from: 'held(node, "Pod", pod.metadata);',
    to: "",
    tests: BULKHEADS,
  },
  {
    name: "bound-of-64-bits",
    rule: "an integer that 64 bits do not hold is no bound",
    file: "core/lib/int64.ts",
    from: "return magnitude <= MAX_INT64 ? magnitude : undefined;",
    to: "return magnitude;",
    tests: AMOUNTS,
  },
  {
    name: "most-of-a-quantity",
    rule: "an amount that Kubernetes does not count is finite",
    file: "core/model/quantity.ts",
    from: "if (leading > MAX_DIGITS) return MAX_MILLI;",
    to: "if (leading > MAX_DIGITS) return Number.POSITIVE_INFINITY;",
    tests: AMOUNTS,
  },
  {
    name: "notice-of-another-account",
    rule: "an interruption message of another account ends no machine",
    file: "core/interruption/concerns.ts",
    from: "account !== at.account)",
    to: 'at.account === "")',
    tests: NOTICES,
  },
  {
    name: "notice-of-1999",
    rule: "an interruption message of long ago ends no machine",
    file: "core/interruption/concerns.ts",
    from: "if (at.now - time >",
    to: "if (time - at.now >",
    tests: NOTICES,
  },
  {
    name: "spot-notice-on-demand",
    rule: "a spot notice ends no on-demand machine",
    file: "core/interruption/concerns.ts",
    from: "instance.capacityType !== capacityType && !isInReservation",
    to: "instance.capacityType === capacityType && isInReservation",
    tests: NOTICES,
  },
  {
    name: "unpacked-without-end",
    rule: "an audit delivery is unpacked up to a limit",
    file: "functions/audit/unpack.ts",
    from: "if (unpacked > MAX_UNPACKED_BYTES)",
    to: "if (unpacked < 0)",
    tests: AUDIT,
  },
  {
    name: "odd-audit-record",
    rule: "an audit record that cannot be read is told",
    file: "functions/audit/listen.ts",
    from: "this.unreadable++;",
    to: "",
    tests: AUDIT,
  },
];
