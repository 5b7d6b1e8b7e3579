import { expect, it } from "vitest";
import { bundledCatalogue, bundledLimits } from "#adapters/catalogue/bundled.ts";
import { dataChanges, releaseChanges } from "#infra/data/changes.ts";
import { crdFields } from "#infra/data/crd-fields.ts";
import { syntheticSpot } from "#infra/data/synthetic-spot.ts";

const CRD = `
spec:
  versions:
    - name: v1alpha1
      schema: { openAPIV3Schema: { properties: { old: { type: string } } } }
    - name: v1
      schema:
        openAPIV3Schema:
          properties:
            spec:
              required: [template]
              properties:
                template: { type: object, additionalProperties: { type: string } }
                taints: { type: array, items: { properties: { effect: { type: string, enum: [NoSchedule, NoExecute] } } } }
`;

it("lists what a user may write by a CRD", () => {
  expect([...crdFields(CRD)].sort()).toEqual([
    "spec",
    "spec.taints",
    "spec.taints[]",
    "spec.taints[].effect",
    "spec.taints[].effect = NoExecute",
    "spec.taints[].effect = NoSchedule",
    "spec.template",
    "spec.template is required",
    "spec.template{}",
  ]);
});

it("says which fields, settings and gates a release brings, and which are not in the project's CRDs", () => {
  const before = { fields: { "a.yaml": new Set(["spec", "spec.old"]) }, settings: ["A"], gates: ["G"] };
  const after = { fields: { "a.yaml": new Set(["spec", "spec.new", "spec.had"]) }, settings: ["A", "B"], gates: [] };
  expect(
    releaseChanges(before, after, { "a.yaml": new Set(["spec", "spec.old", "spec.had"]) }).filter((line) => line.startsWith("-")),
  ).toEqual([
    "- new: `spec.new` (not in infra/crds)",
    "- new: `spec.had`",
    "- gone: `spec.old` (still in infra/crds)",
    "- new: B",
    "- gone: none",
    "- new: none",
    "- gone: G",
  ]);
});

it("says by family which limits, types and prices change, and what nobody states", () => {
  const catalogue = bundledCatalogue("us-west-2");
  const { "m5.large": gone = 0, ...onDemand } = catalogue.onDemand;
  const now = {
    ...catalogue,
    types: catalogue.types.filter(({ name }) => name !== "m5.large"),
    onDemand: { ...onDemand, "m5.xlarge": gone },
  };
  const limits = bundledLimits();
  const lines = dataChanges({ limits, catalogues: [catalogue] }, { limits: { ...limits, "m5.large": { podEni: 1 } }, catalogues: [now] }, [
    "m5.large",
    "z9.large",
  ]);
  expect(lines).toEqual(
    expect.arrayContaining([
      "- changed: 1: m5 (1)",
      "- type gone: 1: m5 (1)",
      "- type changed: none",
      "- price gone: 1: m5 (1)",
      "- price changed: 1: m5 (1)",
      "- types that EC2's API model names and no bundled region offers: m5 (1), z9 (1)",
    ]),
  );
});

it("the bundled spot prices follow their formula", () => {
  const { types, onDemand, spot } = bundledCatalogue("us-west-2", { withSyntheticSpot: true });
  expect(syntheticSpot(types, onDemand)).toEqual(spot);
});
