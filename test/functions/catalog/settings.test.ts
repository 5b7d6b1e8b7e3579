import { expect, it } from "vitest";
import { refreshNodeClasses } from "#functions/catalog/refresh.ts";
import type { Settings } from "#functions/shared/cluster-deps.ts";
import { nodeClass, TestWorld } from "./world.ts";

async function refresh(world: TestWorld, settings: Partial<Settings>, passMs = 0): Promise<readonly string[]> {
  world.now += passMs;
  world.calls.length = 0;
  await refreshNodeClasses({ ...world.deps, settings: { ...world.deps.settings, ...settings } }, world.memory);
  return world.calls;
}

const MINUTE = 60_000;

it("images, subnets and security groups are resolved no more often than the settings say", async () => {
  const world = new TestWorld();
  world.put("EC2NodeClass", nodeClass());
  const settings = { amiRefreshMs: 60 * MINUTE, subnetRefreshMs: 3 * MINUTE };
  expect(await refresh(world, settings)).toContain("images");
  expect(await refresh(world, settings, MINUTE)).not.toContain("subnets");
  expect(await refresh(world, settings, 2 * MINUTE)).toContain("subnets");
  expect(await refresh(world, settings, 50 * MINUTE)).not.toContain("images");
  expect(await refresh(world, settings, 7 * MINUTE)).toContain("images");
  expect(await refresh(world, { securityGroupRefreshMs: 60 * MINUTE }, 5 * MINUTE)).not.toContain("securityGroups");
  expect(await refresh(world, {})).toContain("securityGroups");
  // Shorter than Karpenter's own round makes it no shorter.
  expect(await refresh(world, {}, MINUTE)).not.toContain("images");
});

it("IAM is not called in an isolated VPC, and the error names what an EC2NodeClass must set instead", async () => {
  const world = new TestWorld();
  world.put("EC2NodeClass", nodeClass());
  expect(await refresh(world, { isolatedVpc: true })).not.toContain("ensureInstanceProfile");
  expect(world.errors.join()).toMatch(/ISOLATED_VPC is set.*name spec\.instanceProfile instead/);

  const { role: _, ...spec } = nodeClass().spec;
  world.put("EC2NodeClass", { ...nodeClass(), spec: { ...spec, instanceProfile: "mine" } });
  await refresh(world, { isolatedVpc: true }, MINUTE);
  expect(world.get("EC2NodeClass", "default").status?.instanceProfile).toBe("mine");
});
