import { expect, it } from "vitest";
import { createLab } from "#lab/host.ts";
import type { CallHooks } from "#lab/world/intercept.ts";
import { CATALOGUE, deployment, FAMILIES, NODE_CLASS, nodePool, SPOT, START } from "#test/simulation/story.ts";

const MINUTE = 60_000;

/** Ends the invocation of the first launch, or loses its answer, after EC2 has launched the instance. */
function loseFirstAnswer(how: "kill" | "error"): CallHooks {
  let isDone = false;
  return {
    after: ({ port, method }) => {
      if (isDone || port !== "fleet" || method !== "launch") return undefined;
      isDone = true;
      if (how === "error") throw new Error("socket hang up");
      return "kill";
    },
  };
}

it.for(["kill", "error"] as const)(
  "a notice that comes before the instance is stored, whose launch's answer was lost by %s, drains its pods in time",
  async (how) => {
    const lab = createLab({
      ...{ seed: 1, start: START, region: "us-west-2", sources: ["notify"], catalogue: CATALOGUE, ec2: {} },
      hooks: loseFirstAnswer(how),
    });
    const { world, cloud } = lab;
    for (const object of [NODE_CLASS, nodePool([SPOT, FAMILIES]), deployment(0, { cpu: "1" })]) world.apply(object);
    await world.clock.run({ until: START + 2 * MINUTE });
    world.scale("Deployment", "default", "inflate", 2);
    while (cloud.machines().length === 0) await world.clock.run({ until: world.clock.now() + 250 });
    const [first] = cloud.machines();
    await world.clock.run({ until: world.clock.now() + 1_000 });
    cloud.interruptSpot(first?.instance.id ?? "");
    await world.clock.run({ until: world.clock.now() + 100_000 });
    const records = await lab.deps.store.list(world.cluster);
    const stays = records.filter(({ instance, terminating }) => instance?.id === first?.instance.id && terminating === undefined);
    expect(stays).toEqual([]);
    await world.clock.run({ until: world.clock.now() + 3 * MINUTE });
    expect(world.store.list("Pod").filter(({ status }) => (status as { phase?: string }).phase === "Running")).toHaveLength(2);
    lab.close();
  },
);
