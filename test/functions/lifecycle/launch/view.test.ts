import { expect, it } from "vitest";
import type { NodeClaim } from "#core/model/node-claim.ts";
import type { EC2NodeClass } from "#core/model/node-class.ts";
import type { Kind } from "#core/ports/kubernetes.ts";
import { launchTypes } from "#functions/lifecycle/launch/view.ts";
import { nodeOverlay, only } from "#test/core/node-overlay/builders.ts";
import { CATALOGUE, nodePool } from "#test/support/scheduling/builders.ts";

type Deps = Parameters<typeof launchTypes>[3];

const nodeClass = (name: string): EC2NodeClass => ({
  metadata: { name },
  spec: { subnetSelectorTerms: [], securityGroupSelectorTerms: [], amiSelectorTerms: [] },
});

const claim = (labels: Record<string, string>): NodeClaim => ({
  metadata: { name: "c", labels },
  spec: { requirements: [], nodeClassRef: { group: "karpenter.k8s.aws", kind: "EC2NodeClass", name: "default" } },
});

/** The first price of m.small for a claim, and which kinds were read. */
async function priceFor(labels: Record<string, string>, { gate = true, pools = [nodePool()], overlays = [OVERLAY] } = {}) {
  const read: Kind[] = [];
  const objects: Partial<Record<Kind, unknown[]>> = { NodeOverlay: overlays, NodePool: pools, EC2NodeClass: [nodeClass("default")] };
  const list = async (kind: Kind) => {
    read.push(kind);
    return objects[kind] ?? [];
  };
  const deps = { kubernetes: { list }, settings: { nodeOverlay: gate } } as unknown as Deps;
  const types = await launchTypes(claim(labels), nodeClass("default"), () => CATALOGUE, deps);
  return { price: types.find(({ name }) => name === "m.small")?.offerings[0]?.price, read };
}

const OVERLAY = nodeOverlay("x", { price: "7", requirements: [only("karpenter.sh/nodepool", "default")] });
const OWN = { "karpenter.sh/nodepool": "default" };

it("a NodeClaim is launched with the NodeOverlays of its NodePool", async () => {
  expect((await priceFor(OWN)).price).toBe(7);
});

it("a NodeOverlay that conflicts in another NodePool does not count for the NodeClaim either", async () => {
  const overlays = [OVERLAY, nodeOverlay("y", { price: "8" })];
  expect((await priceFor(OWN, { overlays })).price).toBe(8);
});

it.for([
  { name: "without a pool", labels: {}, options: {}, read: [] },
  { name: "while the gate is off", labels: OWN, options: { gate: false }, read: [] },
  { name: "while there are no overlays", labels: OWN, options: { overlays: [] }, read: ["NodeOverlay"] },
])("a NodeClaim $name costs no further reads", async ({ labels, options, read }) => {
  expect(await priceFor(labels, options)).toEqual({ price: 0.1, read });
});

it("a NodeClaim whose NodePool is gone has no NodeOverlays; one whose NodePool changed its class keeps the types of its own", async () => {
  expect((await priceFor(OWN, { pools: [] })).price).toBe(0.1);
  const { spec, ...pool } = nodePool();
  const nodeClassRef = { ...spec.template.spec.nodeClassRef, name: "other" };
  const moved = { ...pool, spec: { ...spec, template: { spec: { ...spec.template.spec, nodeClassRef } } } };
  expect((await priceFor(OWN, { pools: [moved] })).price).toBe(7);
});
