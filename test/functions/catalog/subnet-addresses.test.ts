import { expect, it } from "vitest";
import { readAddresses } from "#adapters/store/subnet-addresses.ts";
import { refreshNodeClasses } from "#functions/catalog/refresh.ts";
import { nodeClass, TestWorld } from "./world.ts";

const subnet = (id: string, zone: string, availableIps: number) => ({ id, zone, zoneId: "", availableIps });
const published = (world: TestWorld) => readAddresses(world.deps, { cluster: "prod", nodeClass: "default" });

it("launches get the free addresses of subnets where a zone has a choice of them", async () => {
  const world = new TestWorld();
  world.put("EC2NodeClass", nodeClass());
  await refreshNodeClasses(world.deps, world.memory);
  expect(await published(world)).toBeUndefined();

  world.subnets = [subnet("subnet-a", "a", 7), subnet("subnet-b", "a", 9)];
  world.now += 60_000;
  await refreshNodeClasses(world.deps, world.memory);
  expect(await published(world)).toEqual({ at: world.now, free: { "subnet-a": 7, "subnet-b": 9 } });
});

it("a damaged count of free addresses counts as none, so that it stops no launch", async () => {
  const { deps } = new TestWorld();
  for (const text of ["{", "null", '{"at":1}', '{"at":1,"free":{"subnet-a":"7"}}']) {
    await deps.store.putDocument("subnets/prod/default", new TextEncoder().encode(text), "1");
    expect(await readAddresses(deps, { cluster: "prod", nodeClass: "default" })).toBeUndefined();
  }
});
