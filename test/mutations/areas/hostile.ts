import type { Mutation } from "../mutation.ts";

const KEYS = ["test/hostile/keys.test.ts"];

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
];
