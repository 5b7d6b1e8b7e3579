import { expect, it } from "vitest";
import type { NodeSelectorRequirementWithMinValues } from "#core/model/node-pool.ts";
import { poolsWithoutTypes } from "#core/scheduling/reasons/no-types.ts";
import { CATALOGUE, instanceType, nodePool, snapshotOf } from "#test/support/scheduling/builders.ts";

const withRequirements = (requirements: readonly NodeSelectorRequirementWithMinValues[]) => {
  const pool = nodePool("default");
  const { template } = pool.spec;
  return { ...pool, spec: { ...pool.spec, template: { ...template, spec: { ...template.spec, requirements } } } };
};
const TYPE = "node.kubernetes.io/instance-type";
const soldOut = [
  instanceType("m.large", 2, 8, { offerings: [{ zone: "zone-a", capacityType: "on-demand", price: 0.1, available: false }] }),
];

it.for<{ name: string; requirements: readonly NodeSelectorRequirementWithMinValues[]; types?: typeof CATALOGUE; want: unknown }>([
  { name: "types", requirements: [], want: [] },
  { name: "requirements that no type meets", requirements: [{ key: TYPE, operator: "In", values: ["none"] }], want: [false] },
  { name: "types whose offerings are all unavailable", requirements: [], types: soldOut, want: [false] },
  { name: "fewer types than minValues", requirements: [{ key: TYPE, operator: "Exists", minValues: 50 }], want: [true] },
  { name: "enough types for minValues", requirements: [{ key: TYPE, operator: "Exists", minValues: 2 }], want: [] },
  { name: "no known types, as one of another controller", requirements: [], types: [], want: [] },
])("a NodePool with $name", ({ requirements, types = CATALOGUE, want }) => {
  const snapshot = snapshotOf({ nodePools: [withRequirements(requirements)], instanceTypes: types });
  expect(poolsWithoutTypes(snapshot).map(({ byMinValues }) => byMinValues)).toEqual(want);
});

it("minValues that are only a wish leave no NodePool without types", () => {
  const nodePools = [withRequirements([{ key: TYPE, operator: "Exists", minValues: 50 }])];
  expect(poolsWithoutTypes(snapshotOf({ nodePools }), { minValuesPolicy: "BestEffort" })).toEqual([]);
});
