import { expect, it } from "vitest";
import { consistency } from "#core/lifecycle/consistency.ts";
import type { ResourceList } from "#core/model/kubernetes.ts";
import { node, nodeClaim } from "../../support/builders.ts";

const issue = (requests: ResourceList, expected: ResourceList, found: ResourceList): string | undefined => {
  const claim = nodeClaim({ conditions: ["Launched", "Registered", "Initialized"] });
  const promised = { ...claim, spec: { ...claim.spec, resources: { requests } }, status: { ...claim.status, capacity: expected } };
  return consistency(promised, { ...node(), status: { capacity: found } }).issue;
};

it.for([
  { name: "all of its capacity", requests: { memory: "1Gi" }, expected: { memory: "8Gi" }, found: { memory: "8Gi" }, want: undefined },
  { name: "nine tenths of its capacity", requests: { cpu: "1" }, expected: { cpu: "10" }, found: { cpu: "9" }, want: undefined },
  {
    name: "less than nine tenths of its capacity",
    requests: { cpu: "1" },
    expected: { cpu: "10" },
    found: { cpu: "8900m" },
    want: "expected 10 of resource cpu, but found 8900m (89.0% of expected)",
  },
  {
    name: "none of a requested resource",
    requests: { "nvidia.com/gpu": "1" },
    expected: { "nvidia.com/gpu": "4" },
    found: {},
    want: "expected 4 of resource nvidia.com/gpu, but found 0 (0.0% of expected)",
  },
  {
    name: "less of a resource that is not requested",
    requests: { cpu: "1" },
    expected: { cpu: "2", memory: "8Gi" },
    found: { cpu: "2" },
    want: undefined,
  },
  { name: "no resource that its NodeClaim does not promise", requests: { "example.com/x": "1" }, expected: {}, found: {}, want: undefined },
])("the consistency of a node with $name", ({ requests, expected, found, want }) => {
  expect(issue(requests, expected, found)).toBe(want);
});
