import { expect, it } from "vitest";
import { nearest } from "#core/lib/nearest.ts";

it.for([
  { name: "podz", names: ["pods", "nodes"], want: "pods", why: "one letter" },
  { name: "nodepools", names: ["nodePools", "nodeools"], want: "nodePools", why: "another letter case is closer than another letter" },
  { name: "us-west-2d", names: ["us-west-2a"], want: "us-west-2a", why: "the only one" },
  { name: "us-west-2d", names: ["us-west-2a", "us-west-2b"], want: undefined, why: "two names are equally close" },
  { name: "gpu", names: ["app", "gpus"], want: "gpus", why: "two of three letters make another word" },
  { name: "team", names: ["team"], want: undefined, why: "the name itself does not count" },
  { name: "karpenter.sh/capacity-typ", names: ["karpenter.sh/capacity-type"], want: "karpenter.sh/capacity-type", why: "a missing letter" },
  { name: "colour", names: [], want: undefined, why: "no known names" },
])("the nearest name to $name in $names: $why", ({ name, names, want }) => {
  expect(nearest(name, names)).toBe(want);
});
