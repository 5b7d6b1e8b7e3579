import { describe, expect, it } from "vitest";
import { conditionOf } from "#core/model/conditions.ts";
import type { NodeOverlaySpec } from "#core/model/node-overlay.ts";
import { refreshNodeClasses } from "#functions/catalog/refresh.ts";
import { nodeOverlay, only } from "../../core/node-overlay/builders.ts";
import { nodeClass, nodePool, TestWorld } from "./world.ts";

const TYPE = "node.kubernetes.io/instance-type";

function open(overlays: Readonly<Record<string, Partial<NodeOverlaySpec>>>): TestWorld {
  const world = new TestWorld();
  world.put("EC2NodeClass", nodeClass());
  world.put("NodePool", nodePool());
  for (const [name, spec] of Object.entries(overlays)) world.put("NodeOverlay", nodeOverlay(name, spec));
  return world;
}

async function refresh(world: TestWorld): Promise<TestWorld> {
  world.now += 60_000;
  await refreshNodeClasses(world.deps, world.memory);
  return world;
}

const verdict = (world: TestWorld, name: string) => {
  const { conditions } = world.get("NodeOverlay", name).status ?? {};
  const { status, reason, message } = conditionOf(conditions, "ValidationSucceeded") ?? {};
  return { ready: conditionOf(conditions, "Ready")?.status, status, reason, message };
};

describe("the status of NodeOverlays", () => {
  it("the status of a NodeOverlay says whether it is applied, and the planner is woken", async () => {
    const world = await refresh(open({ cheap: { price: "0.01", requirements: [only(TYPE, "m5.large")] } }));
    expect(verdict(world, "cheap")).toEqual({ ready: "True", status: "True", reason: "ValidationSucceeded", message: "" });
    expect(world.wakeUps).toContainEqual({ kind: "provision", cluster: "prod", cause: "NodeOverlayChanged", detail: "cheap" });
  });

  it.for<{ name: string; overlays: Record<string, Partial<NodeOverlaySpec>>; want: object }>([
    {
      name: "that it is not valid",
      overlays: { a: { price: "free" } },
      want: { ready: "False", reason: "RuntimeValidation", message: expect.stringContaining('"free" is not a price') },
    },
    {
      name: "that it clashes with another",
      overlays: { a: { price: "1" }, b: { price: "2", requirements: [only(TYPE, "m5.large")] } },
      want: { ready: "False", reason: "Conflict", message: expect.stringContaining("NodeOverlay b of the same weight (0)") },
    },
    {
      name: "that it matches nothing",
      overlays: { a: { price: "1", requirements: [only(TYPE, "m5.lagre")] } },
      want: { ready: "True", message: "no instance type of any NodePool meets spec.requirements" },
    },
  ])("$name", async ({ overlays, want }) => {
    const world = await refresh(open(overlays));
    expect(verdict(world, "a")).toMatchObject(want);
  });

  it("nothing is written while nothing changes, and a conflict that is resolved is reported as such", async () => {
    const world = await refresh(open({ a: { price: "1" }, b: { price: "2" } }));
    world.writes.length = 0;
    await refresh(world);
    expect(world.writes.filter((write) => write.includes("NodeOverlay"))).toEqual([]);
    const b = world.get("NodeOverlay", "b");
    world.put("NodeOverlay", { ...b, metadata: { ...b.metadata, generation: 2 }, spec: { ...b.spec, weight: 5 } });
    await refresh(world);
    expect(verdict(world, "a").status).toBe("True");
    expect(conditionOf(world.get("NodeOverlay", "b").status?.conditions, "Ready")?.observedGeneration).toBe(2);
  });

  it("nothing is written while the feature gate is off", async () => {
    const world = open({ a: { price: "1" } });
    const deps = { ...world.deps, settings: { ...world.deps.settings, nodeOverlay: false } };
    await refreshNodeClasses(deps, world.memory);
    expect(world.get("NodeOverlay", "a").status).toBeUndefined();
  });
});
