import { expect, it } from "vitest";
import { nearest } from "../../../core/lib/nearest.ts";

it.for([
  { name: "podz", names: ["pods", "nodes"], want: "pods", why: "one letter" },
  { name: "nodepools", names: ["nodePools", "nodeools"], want: "nodePools", why: "another case is nearer than a letter" },
  { name: "us-west-2d", names: ["us-west-2a"], want: "us-west-2a", why: "the only one" },
  { name: "us-west-2d", names: ["us-west-2a", "us-west-2b"], want: undefined, why: "two are as near" },
  { name: "gpu", names: ["app", "gpus"], want: "gpus", why: "two letters of three are another word" },
  { name: "team", names: ["team"], want: undefined, why: "it is that name already" },
  { name: "karpenter.sh/capacity-typ", names: ["karpenter.sh/capacity-type"], want: "karpenter.sh/capacity-type", why: "a letter lost" },
  { name: "colour", names: [], want: undefined, why: "nothing to choose from" },
])("$name of $names: $why", ({ name, names, want }) => {
  expect(nearest(name, names)).toBe(want);
});
