import { expect, it } from "vitest";
import { driftedClaims } from "#core/drift/drifted-claims.ts";
import { NOW, nodePool, snapshot } from "../disruption/builders.ts";

it("drift of each claim follows from its own NodePool, and claims without a NodePool are left out", () => {
  const narrowed = nodePool("narrow");
  const requirements = [{ key: "node.kubernetes.io/instance-type", operator: "In" as const, values: ["small"] }];
  const spec = { ...narrowed.spec, template: { ...narrowed.spec.template, spec: { ...narrowed.spec.template.spec, requirements } } };
  const scene = snapshot({
    pools: [nodePool(), { ...narrowed, spec }],
    machines: [{ name: "a" }, { name: "b", pool: "narrow" }, { name: "c", pool: "gone" }],
  });
  expect(driftedClaims({ snapshot: scene, records: [], nodeClasses: [], now: NOW })).toEqual(
    new Map([
      ["a-claim", undefined],
      ["b-claim", "RequirementsDrifted"],
    ]),
  );
});
