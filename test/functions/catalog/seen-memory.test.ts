import { expect, it } from "vitest";
import { SEEN_MEMORY, seenMemory } from "#core/offerings/seen-memory.ts";
import { refreshNodeClasses } from "#functions/catalog/refresh.ts";
import { instanceTypesFor } from "#functions/shared/instance-types.ts";
import { nodeClaim, nodeClass, TestWorld } from "./world.ts";

it("the memory of a registered node is stored once on the EC2NodeClass, and plans use it", async () => {
  const world = new TestWorld();
  world.put("EC2NodeClass", nodeClass());
  await refreshNodeClasses(world.deps, world.memory);
  const before = world.get("EC2NodeClass", "default");
  const imageID = before.status?.amis?.[0]?.id ?? "";

  const claim = nodeClaim("claim-a");
  world.put("NodeClaim", { ...claim, status: { ...claim.status, imageID, nodeName: "node-a" } });
  const labels = { "karpenter.sh/registered": "true", "node.kubernetes.io/instance-type": "m5.large" };
  world.put("Node", { metadata: { name: "node-a", labels }, spec: {}, status: { capacity: { memory: "7800000Ki" } } });
  world.writes.length = 0;
  await refreshNodeClasses(world.deps, world.memory);
  const noted = world.get("EC2NodeClass", "default");
  expect([...seenMemory(noted)]).toEqual([["m5.large", "7800000Ki"]]);
  expect(world.writes.filter((write) => write === "update EC2NodeClass/default")).toHaveLength(1);

  const catalogue = await world.deps.catalogue();
  const memoryOf = (known: typeof noted) =>
    instanceTypesFor(catalogue, known, [], world.deps.settings).find(({ name }) => name === "m5.large")?.capacity["memory"];
  expect([memoryOf(before), memoryOf(noted)]).toEqual(["7577Mi", "7800000Ki"]);

  world.writes.length = 0;
  await refreshNodeClasses(world.deps, world.memory);
  expect(world.writes).toEqual([]);
  expect(noted.metadata.annotations).toHaveProperty([SEEN_MEMORY]);
});
