import { expect, it } from "vitest";
import { MAX_PRICE_PER_HOUR } from "#core/model/labels.ts";
import { affordable } from "#core/static-capacity/affordable.ts";
import { staticClaim } from "#core/static-capacity/claim.ts";
import { instanceType, nodePool, nodeWithClaim, snapshotOf } from "../../support/scheduling/builders.ts";

const instanceTypes = [
  instanceType("m.one", 1, 4, { price: 0.1 }),
  instanceType("m.two", 2, 8, { price: 0.2 }),
  instanceType("m.ten", 10, 40, { price: 1 }),
];
const { node, claim } = nodeWithClaim("n0", { labels: { "node.kubernetes.io/instance-type": "m.one" } });

it.for([
  {
    name: "without a cap, all that are wanted, of any type",
    cap: undefined,
    wanted: 3,
    without: [],
    count: 3,
    types: ["m.one", "m.two", "m.ten"],
  },
  { name: "far from the cap, the same", cap: "4", wanted: 3, without: [], count: 3, types: ["m.one", "m.two", "m.ten"] },
  {
    name: "near the cap, types of which all that are wanted are affordable",
    cap: "0.7",
    wanted: 3,
    without: [],
    count: 3,
    types: ["m.one", "m.two"],
  },
  { name: "at the cap, as many of the cheapest as it leaves room for", cap: "0.3", wanted: 3, without: [], count: 2, types: ["m.one"] },
  { name: "a node that goes makes room", cap: "0.3", wanted: 3, without: ["n0"], count: 3, types: ["m.one"] },
  { name: "none beyond the cap", cap: "0.15", wanted: 3, without: [], count: 0, types: [] },
])("nodes of a static NodePool that a price cap leaves room for: $name", ({ cap, wanted, without, count, types }) => {
  const annotations = cap === undefined ? {} : { [MAX_PRICE_PER_HOUR]: cap };
  const pool = { ...nodePool(), metadata: { ...nodePool().metadata, annotations } };
  const snapshot = snapshotOf({ instanceTypes, nodePools: [pool], nodes: [node], nodeClaims: [claim] });
  const planned = staticClaim(pool, snapshot.instanceTypes.get("default") ?? []);
  if ("none" in planned) throw new Error(planned.none);
  const found = affordable({ pool, planned: planned.ok, wanted }, snapshot, new Set(without));
  expect([found.count, found.planned.instanceTypes]).toEqual([count, types]);
});
