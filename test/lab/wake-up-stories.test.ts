import { describe, expect, it } from "vitest";
import type { Lab } from "#lab/host.ts";
import type { PortCall } from "#lab/world/intercept.ts";
import { NODE_CLASS } from "../simulation/story.ts";
import { expectAccountedFor, INFLATE, ids, MINUTE, POOL, pass, ready, runningPods, SECOND, scale, until } from "../support/lab-story.ts";

/** A lab in which the next runs of a function fail at their first remote call, after `doom` was called. */
async function doomed(name: string) {
  const runs = new Set<string>();
  let left = 0;
  const before = ({ invocation }: PortCall): undefined => {
    if (invocation?.name !== name) return;
    if (!runs.has(invocation.id)) {
      if (left === 0) return;
      left -= 1;
      runs.add(invocation.id);
    }
    throw new Error("503: the server is currently unable to handle the request");
  };
  const lab = await ready([NODE_CLASS, POOL, INFLATE], { hooks: { before } });
  const doom = (count: number): void => {
    left = count;
  };
  return { lab, doom };
}

describe("a failed invocation delays nothing beyond the next sweep", () => {
  const scaleUp = async (lab: Lab): Promise<number> => {
    scale(lab, 2);
    return until(lab, () => runningPods(lab) === 2, 10 * MINUTE);
  };

  it.for([
    { name: "provision", failures: 1 },
    { name: "lifecycle", failures: 1 },
    { name: "lifecycle", failures: 3 },
  ])("when scaling up, $failures failed run(s) of $name", async ({ name, failures }) => {
    const well = await doomed(name);
    const usual = await scaleUp(well.lab);
    well.lab.close();
    const { lab, doom } = await doomed(name);
    doom(failures);
    // Each failure waits for a sweep, which resumes what is five seconds late.
    expect((await scaleUp(lab)) - usual).toBeLessThanOrEqual(failures * 65 * SECOND);
    await expectAccountedFor(lab, 1);
    lab.close();
  });

  it("when scaling down, a failed run of disruption", async () => {
    const scaleDown = async (failures: number): Promise<number> => {
      const { lab, doom } = await doomed("disruption");
      await scaleUp(lab);
      await pass(lab, 2 * MINUTE);
      doom(failures);
      scale(lab, 0);
      const took = await until(lab, () => ids(lab).length === 0, 20 * MINUTE);
      lab.close();
      return took;
    };
    expect((await scaleDown(1)) - (await scaleDown(0))).toBeLessThanOrEqual(65 * SECOND);
  });

  it("when an instance is interrupted, a failed run of lifecycle", async () => {
    const { lab, doom } = await doomed("lifecycle");
    await scaleUp(lab);
    const [noticed = ""] = ids(lab);
    doom(1);
    lab.cloud.kill(noticed);
    await pass(lab, 4 * MINUTE);
    expect(runningPods(lab)).toBe(2);
    await expectAccountedFor(lab, 1);
    lab.close();
  });
});

describe("a cluster in which nothing happens", () => {
  it.for([
    { name: "without nodes", replicas: 0 },
    { name: "with nodes", replicas: 7 },
  ])("$name is read by the sweeps alone, and nothing is written", async ({ replicas }) => {
    const lab = await ready([NODE_CLASS, POOL, INFLATE]);
    scale(lab, replicas);
    await pass(lab, 20 * MINUTE);
    const runs = new Map(lab.invocations);
    const calls = new Map(lab.calls);
    await pass(lab, 60 * MINUTE);
    for (const [name, count] of lab.invocations) expect(count - (runs.get(name) ?? 0), name).toBeLessThanOrEqual(62);
    const writes = [...lab.calls].filter(([name]) => /^kubernetes\.(update|create|delete)|^fleet\.(launch|terminate|ensure)/.test(name));
    for (const [name, count] of writes) expect(count - (calls.get(name) ?? 0), name).toBe(0);
    lab.close();
  });
});
