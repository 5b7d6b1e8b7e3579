import { describe, expect, it } from "vitest";
import { MAX_PRICE_PER_HOUR, PRICE_PER_HOUR } from "#core/model/labels.ts";
import type { Lab } from "#lab/host.ts";
import type { ApiObject } from "#manifests/api-object.ts";
import { NODE_CLASS } from "../simulation/story.ts";
import { alive, INFLATE, MINUTE, POOL, pass, ready, runningPods, SPOT_POOL, scale } from "../support/lab-story.ts";

const capped = (pool: ApiObject, dollars: string): ApiObject => ({
  ...pool,
  metadata: { ...pool.metadata, annotations: { [MAX_PRICE_PER_HOUR]: dollars } },
});

/** Dollars an hour of all instances that are not terminated, at the prices of EC2. */
const billed = (lab: Lab): number => alive(lab).reduce((sum, { price }) => sum + price, 0);
const eventsOfPods = (lab: Lab): readonly string[] =>
  lab.world.events.filter(({ reason }) => reason === "FailedScheduling").map(({ message }) => message);

/** Passes minutes, and returns the most that was billed in one of them. */
async function mostBilled(lab: Lab, minutes: number): Promise<number> {
  let most = 0;
  for (let minute = 0; minute < minutes; minute++) {
    await pass(lab, MINUTE);
    most = Math.max(most, billed(lab));
  }
  return most;
}

describe("a cap in dollars an hour, in a cluster", () => {
  it.for([
    { name: "of a NodePool", objects: [NODE_CLASS, capped(POOL, "0.5"), INFLATE], settings: {}, says: "its price cap of $0.5000/h" },
    {
      name: "of a spot NodePool",
      objects: [NODE_CLASS, capped(SPOT_POOL, "0.5"), INFLATE],
      settings: {},
      says: "its price cap of $0.5000/h",
    },
    {
      name: "of the cluster",
      objects: [NODE_CLASS, POOL, INFLATE],
      settings: { maxPricePerHour: { "*": 0.5 } },
      says: "the cluster's price cap of $0.5000/h",
    },
    {
      name: "of the stack",
      objects: [NODE_CLASS, POOL, INFLATE],
      settings: { stackMaxPricePerHour: 0.5 },
      says: "the stack's price cap of $0.5000/h",
    },
  ])("$name is not exceeded by wave after wave of pods, and pods that wait are told", async ({ objects, settings, says }) => {
    const lab = await ready(objects, { settings });
    for (const replicas of [3, 9, 40]) {
      scale(lab, replicas);
      expect(await mostBilled(lab, 4)).toBeLessThanOrEqual(0.5);
    }
    expect(billed(lab)).toBeGreaterThan(0.25);
    expect(runningPods(lab)).toBeLessThan(40);
    expect(eventsOfPods(lab).some((message) => message.includes(says))).toBe(true);
    lab.close();
  });

  it("that is raised lets the pods that wait have nodes within a minute or two", async () => {
    const lab = await ready([NODE_CLASS, capped(POOL, "0.2"), INFLATE]);
    scale(lab, 12);
    await pass(lab, 5 * MINUTE);
    expect(runningPods(lab)).toBeLessThan(12);
    lab.world.apply(capped(POOL, "20"));
    await pass(lab, 3 * MINUTE);
    expect(runningPods(lab)).toBe(12);
    lab.close();
  });

  it("that is lowered ends nothing, and the status of the NodePool says what its nodes cost", async () => {
    const lab = await ready([NODE_CLASS, capped(POOL, "5"), INFLATE]);
    scale(lab, 12);
    await pass(lab, 5 * MINUTE);
    const before = billed(lab);
    lab.world.apply(capped(POOL, "0.01"));
    await pass(lab, 10 * MINUTE);
    expect([runningPods(lab), billed(lab)]).toEqual([12, before]);
    const { resources = {} } = (lab.world.store.get("NodePool", "default")?.status ?? {}) as { resources?: Record<string, string> };
    expect(Number(resources[PRICE_PER_HOUR])).toBeCloseTo(before, 5);
    lab.close();
  });

  it("of a static NodePool keeps it below its replicas", async () => {
    const { limits: _, ...spec } = POOL["spec"] as { readonly limits: object };
    const lab = await ready([NODE_CLASS, capped({ ...POOL, spec: { ...spec, replicas: 5 } }, "0.3")], {
      settings: { staticCapacity: true },
    });
    expect(await mostBilled(lab, 10)).toBeLessThanOrEqual(0.3);
    const machines = alive(lab).length;
    expect(machines).toBeGreaterThan(0);
    expect(machines).toBeLessThan(5);
    lab.close();
  });
});
