import { expect, it } from "vitest";
import { embeddedNodeClaimStore } from "#adapters/store/embedded-store.ts";
import type { ListedProfile } from "#core/ports/cloud-inventory.ts";
import { collectProfiles } from "#functions/catalog/collect-profiles.ts";
import { nodeClaim, nodeClass, TestWorld } from "./world.ts";

const HOUR = 60 * 60_000;
const ROUND = 30 * 60_000;
const PROFILE = "karpenter.k8s.aws/instance-profile-name";

function scene({ isolatedVpc = false } = {}) {
  const world = new TestWorld();
  const old = world.now - 2 * HOUR;
  const listed: ListedProfile[] = [
    ...["of-class", "of-claim", "of-nobody"].map((name) => ({ name, createdAt: old })),
    { name: "young", createdAt: world.now + HOUR },
  ];
  const paths: string[] = [];
  const removed: string[] = [];
  const inventory = {
    ...world.inventory,
    instanceProfiles: async (path: string) => {
      paths.push(path);
      return listed.filter(({ name }) => !removed.includes(name));
    },
    removeInstanceProfile: async (name: string) => void removed.push(name),
  };
  const { isFirstWithin } = embeddedNodeClaimStore();
  const deps = {
    ...world.deps,
    inventory,
    store: { ...world.deps.store, isFirstWithin },
    settings: { ...world.deps.settings, isolatedVpc },
  };
  const classes = [{ ...nodeClass(), status: { instanceProfile: "of-class" } }];
  const collect = async (passMs = 0) => {
    world.now += passMs;
    await collectProfiles(classes, [nodeClaim("c", { [PROFILE]: "of-claim" })], "us-west-2", deps);
  };
  return { collect, paths, removed };
}

it("an instance profile that is unused in two rounds is removed, and rounds run twice an hour", async () => {
  const { collect, paths, removed } = scene();
  await collect();
  await collect(60_000);
  expect([paths, removed]).toEqual([["/karpenter/us-west-2/prod/"], []]);
  await collect(ROUND);
  expect(removed).toEqual(["of-nobody"]);
  await collect(ROUND);
  expect(removed).toEqual(["of-nobody"]);
  for (let i = 0; i < 4; i++) await collect(ROUND);
  expect(removed).toEqual(["of-nobody", "young"]);
});

it("a profile that was used in between starts again", async () => {
  const { collect, removed } = scene();
  await collect();
  await collect(2 * ROUND);
  expect(removed).toEqual([]);
});

it("no call is made where IAM cannot be reached", async () => {
  const { collect, paths } = scene({ isolatedVpc: true });
  await collect();
  expect(paths).toEqual([]);
});
