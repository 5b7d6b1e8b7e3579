import { expect, it } from "vitest";
import { changeOverview } from "#core/insight/overview/change.ts";
import { whatIf } from "#core/insight/what-if/what-if.ts";
import { disruptionSettings } from "#functions/disruption/settings.ts";
import { DEFAULT_SETTINGS } from "#functions/wiring/settings.ts";
import { WITH_SOLVE } from "#test/support/disruption/with-solve.ts";
import { nodePool, pod, snapshot } from "../../disruption/builders.ts";

const settings = { settings: disruptionSettings("c1", DEFAULT_SETTINGS), ...WITH_SOLVE };

it("a what-if has the bills side by side, and the fate of each node with its reason", () => {
  const before = snapshot({
    pools: [nodePool("default", { consolidateAfter: "Never" })],
    machines: [{ name: "n1", type: "huge" }, { name: "n2" }],
    pods: [pod("p", "n1"), pod("q", "n2", { metadata: { annotations: { "karpenter.sh/do-not-disrupt": "true" } } })],
  });
  const answer = whatIf(before, [], { nodePools: [nodePool("default")] }, settings);
  const seen = changeOverview({ texts: ["consolidateAfter 0s"], warnings: [], answer }, before);
  expect(seen.bills.map(({ title }) => title)).toEqual(["today", "left alone", "changed"]);
  expect(seen.bills[0]).toMatchObject({ nodes: 2, perHour: expect.closeTo(1.2) });
  expect(seen.bills[2]?.perHour).toBeLessThan(0.6);
  const fates = Object.fromEntries(seen.nodes.map((node) => [node.node, node]));
  expect(fates["n1"]).toMatchObject({
    change: "goes",
    instanceType: "huge",
    pricePerHour: 0.8,
    text: expect.stringMatching(/n1 \(huge\)/),
  });
  expect(fates["n2"]).toMatchObject({ change: "stays", text: expect.stringMatching(/do-not-disrupt/) });
  expect(seen.steps).toHaveLength(1);
  expect(seen.lines.every(({ nodes, perHour }) => nodes.length === 3 && perHour.length === 3)).toBe(true);
});

it("a node of a NodePool that is deleted goes, and what is bought for its pods is new", () => {
  const before = snapshot({ pools: [nodePool("a"), nodePool("b")], machines: [{ name: "n1", pool: "a" }], pods: [pod("p", "n1")] });
  const answer = whatIf(before, [], { deletedPools: ["a"] }, settings);
  const { nodes, bills } = changeOverview({ texts: [], warnings: [], answer }, before);
  expect(nodes.map(({ change, nodePool: pool }) => [change, pool])).toEqual([
    ["goes", "a"],
    ["new", "b"],
  ]);
  expect(bills.at(-1)?.nodes).toBe(1);
});
