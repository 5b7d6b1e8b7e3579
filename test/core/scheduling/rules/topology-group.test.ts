import { expect, it } from "vitest";
import type { NodeSelectorRequirementWithMinValues } from "#core/model/node-pool.ts";
import { requirementsFrom } from "#core/requirements/requirements.ts";
import { filterAdmitsClaim, NO_FILTER } from "#core/scheduling/rules/topology-group.ts";
import { RequirementSets } from "#core/scheduling/tables/requirement-sets.ts";

type Items = readonly NodeSelectorRequirementWithMinValues[];
const ARCH = "kubernetes.io/arch";
const CPU = "karpenter.k8s.aws/instance-cpu";
const only = (key: string, ...values: string[]) => ({ key, operator: "In" as const, values });
const never = (key: string, ...values: string[]) => ({ key, operator: "NotIn" as const, values });

it.for<{ name: string; claim: Items; terms: readonly Items[]; keys?: readonly string[]; want: boolean }>([
  { name: "no filter", claim: [], terms: [], want: true },
  { name: "a claim pinned to the required value", claim: [only(ARCH, "arm64")], terms: [[only(ARCH, "arm64")]], want: true },
  { name: "a claim that may get another value", claim: [only(ARCH, "arm64", "amd64")], terms: [[only(ARCH, "arm64")]], want: false },
  { name: "a claim that leaves the label to its instance type", claim: [], terms: [[only(ARCH, "arm64")]], want: false },
  {
    name: "a claim that meets one of several terms",
    claim: [only(ARCH, "arm64")],
    terms: [[only(ARCH, "amd64")], [only(ARCH, "arm64")]],
    want: true,
  },
  {
    name: "a claim with a narrower range",
    claim: [{ key: CPU, operator: "Gt", values: ["8"] }],
    terms: [[{ key: CPU, operator: "Gt", values: ["4"] }]],
    want: true,
  },
  {
    name: "a claim with a wider range",
    claim: [{ key: CPU, operator: "Gt", values: ["2"] }],
    terms: [[{ key: CPU, operator: "Gt", values: ["4"] }]],
    want: false,
  },
  { name: "a custom label that must be absent and is", claim: [], terms: [[never("team", "red")]], want: true },
  {
    name: "a custom label that may be absent and must not be",
    claim: [never("team", "red")],
    terms: [[{ key: "team", operator: "Exists" }]],
    want: false,
  },
  { name: "a key of another spread that every type has", claim: [], terms: [], keys: [ARCH], want: true },
  { name: "a key of another spread that the claim lacks", claim: [], terms: [], keys: ["team"], want: false },
  { name: "a key of another spread that the claim requires", claim: [only("team", "red")], terms: [], keys: ["team"], want: true },
])("a spread's filter on a claim: $name, admitted: $want", ({ claim, terms, keys = [], want }) => {
  const set = new RequirementSets().intern(requirementsFrom(claim));
  expect(filterAdmitsClaim({ ...NO_FILTER, keys, terms: terms.map(requirementsFrom) }, set, [], () => false)).toBe(want);
});

it("a spread's filter admits a claim when all of its types have what its requirements leave open", () => {
  const set = new RequirementSets().intern(requirementsFrom([only(ARCH, "arm64")]));
  const filter = { ...NO_FILTER, terms: [requirementsFrom([only(ARCH, "arm64"), { key: CPU, operator: "Gt", values: ["4"] }])] };
  const asked: string[] = [];
  const admits = (typesMeet: boolean) =>
    filterAdmitsClaim(filter, set, [], ({ key }) => {
      asked.push(key);
      return typesMeet;
    });
  expect([admits(true), admits(false)]).toEqual([true, false]);
  expect(new Set(asked)).toEqual(new Set([CPU]));
});
