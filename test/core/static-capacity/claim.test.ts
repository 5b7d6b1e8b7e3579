import { describe, expect, it } from "vitest";
import { intentFor } from "#core/provisioning/intent.ts";
import { staticClaim } from "#core/static-capacity/claim.ts";
import { instanceType, NOW, nodePool, TYPES } from "../disruption/builders.ts";

const SMALL = { key: "node.kubernetes.io/instance-type", operator: "In", values: ["small", "medium"] } as const;
const TEAM = { key: "example.com/team", operator: "In", values: ["blue"] } as const;

function pool(requirements: readonly (typeof SMALL | typeof TEAM)[]) {
  const made = nodePool("fixed", {}, { replicas: 2 });
  const { template } = made.spec;
  return { ...made, spec: { ...made.spec, template: { ...template, spec: { ...template.spec, requirements } } } };
}

function manifest(requirements: readonly (typeof SMALL | typeof TEAM)[]) {
  const planned = staticClaim(pool(requirements), TYPES);
  if ("none" in planned) throw new Error(planned.none);
  const facts = { cluster: "c", id: "i", name: "n", now: NOW, reason: "provisioned", podUids: [] } as const;
  return intentFor(planned.ok, pool(requirements), facts);
}

describe("a claim of a static pool", () => {
  it("has the requirements of the template, and neither types nor requests of its own", () => {
    const { spec } = manifest([]).manifest;
    expect(spec.requirements).toEqual([{ key: "karpenter.sh/nodepool", operator: "In", values: ["fixed"] }]);
    expect(spec.resources).toEqual({ requests: {} });
  });

  it("keeps the instance types that the template names", () => {
    expect(manifest([SMALL]).manifest.spec.requirements).toContainEqual(SMALL);
  });

  it("has the labels that the template pins", () => {
    expect(manifest([TEAM]).manifest.metadata.labels).toMatchObject({ "example.com/team": "blue", "karpenter.sh/nodepool": "fixed" });
  });

  it("lists the instance types that it may become, cheapest first", () => {
    expect(manifest([SMALL])).toMatchObject({ instanceTypes: ["small", "medium"], pricePerHour: expect.closeTo(0.04) });
  });

  it("is not planned when nothing can be launched", () => {
    const soldOut = instanceType("small");
    const offerings = soldOut.offerings.map((offering) => ({ ...offering, available: false }));
    expect(staticClaim(pool([SMALL]), [{ ...soldOut, offerings }])).toHaveProperty("none");
  });
});
