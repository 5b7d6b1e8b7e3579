import { expect, it } from "vitest";
import { overlaidTypes } from "#functions/shared/overlaid-types.ts";
import { nodeOverlay, only } from "../../core/node-overlay/builders.ts";
import { CATALOGUE, nodePool } from "../../support/scheduling/builders.ts";

const overlay = nodeOverlay("x", { price: "1", requirements: [only("node.kubernetes.io/instance-type", "m.small")] });
const pools = [nodePool("default")];
const types = new Map([["default", CATALOGUE]]);
const listOf = (...input: Parameters<typeof overlaidTypes>) => overlaidTypes(...input).instanceTypes.get("default");

it("the same list is returned while nothing that matters changes, so that callers can cache by it", () => {
  const first = listOf([overlay], pools, types);
  expect(first).not.toBe(CATALOGUE);
  const judged = { ...overlay, metadata: { ...overlay.metadata, resourceVersion: "9" }, status: { conditions: [] } };
  const [pool = nodePool()] = pools;
  const counted = { ...pool, status: { ...pool.status, nodes: 3 } };
  expect(listOf([judged], [counted], new Map(types))).toBe(first);
});

it("a change that matters gives a new list", () => {
  const first = listOf([overlay], pools, types);
  expect(listOf([{ ...overlay, spec: { ...overlay.spec, price: "2" } }], pools, types)).not.toBe(first);
  expect(listOf([overlay], [nodePool("default", { labels: { team: "a" } })], types)).not.toBe(first);
  // The same types in another list: marks of unavailable offerings, or prices, may differ.
  expect(listOf([overlay], pools, new Map([["default", [...CATALOGUE]]]))).not.toBe(first);
});

it("results that were not used lately are forgotten", () => {
  const first = listOf([overlay], pools, types);
  for (let weight = 1; weight <= 4; weight++) listOf([{ ...overlay, spec: { ...overlay.spec, weight } }], pools, types);
  expect(listOf([overlay], pools, types)).not.toBe(first);
});
