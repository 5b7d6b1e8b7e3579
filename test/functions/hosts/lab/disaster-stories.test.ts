import { describe, expect, it } from "vitest";
import type { Lab } from "../../../../functions/hosts/lab/host.ts";
import { NODE_CLASS } from "../../../simulation/story.ts";
import {
  expectAccountedFor,
  INFLATE,
  ids,
  MINUTE,
  messages,
  names,
  POOL,
  pass,
  ready,
  records,
  running,
  runningPods,
  SECOND,
  scale,
} from "../../../support/lab-story.ts";

/** What is left when somebody has deleted the table's items. */
async function loseTable(lab: Lab): Promise<void> {
  const { store } = lab.deps;
  for (const record of await records(lab)) await store.remove(record);
  for (const command of await store.commands(lab.world.cluster)) await store.removeCommand(command);
}

describe("when the table is lost", () => {
  it("no machine is ended: claims are taken into care again, with the machines that they have", async () => {
    const lab = await running(7);
    const before = ids(lab);
    await pass(lab, 6 * MINUTE);
    await loseTable(lab);
    await pass(lab, 10 * MINUTE);
    expect(ids(lab)).toEqual(before);
    expect(runningPods(lab)).toBe(7);
    await expectAccountedFor(lab, before.length);
    scale(lab, 0);
    await pass(lab, 5 * MINUTE);
    await expectAccountedFor(lab, 0);
    lab.close();
  });

  it.for([1, 2, 3, 5, 8, 13, 21])("%i s into a launch, nothing is bought twice", async (seconds) => {
    const lab = await ready([NODE_CLASS, POOL, INFLATE]);
    scale(lab, 2);
    await pass(lab, seconds * SECOND);
    await loseTable(lab);
    await pass(lab, 4 * MINUTE);
    expect(runningPods(lab)).toBe(2);
    expect(lab.cloud.machines()).toHaveLength(1);
    await expectAccountedFor(lab, 1);
    lab.close();
  });
});

describe("when NodeClaims vanish without having been deleted", () => {
  it("all at once, their machines are held, and people are told what to do", async () => {
    const lab = await running(7, [NODE_CLASS, POOL, INFLATE], { sources: [] });
    scale(lab, 14);
    await pass(lab, 3 * MINUTE);
    const before = ids(lab);
    expect(before.length).toBeGreaterThan(1);
    for (const name of names(lab, "NodeClaim")) {
      lab.world.store.patch("NodeClaim", name, undefined, { user: "an accident" }, (claim) => {
        claim.metadata.finalizers = [];
        return claim;
      });
      lab.world.delete("NodeClaim", name);
    }
    await pass(lab, 5 * MINUTE);
    // The cluster's own garbage collector deletes nodes whose owner has gone, so room for their pods is bought; but nobody drains them.
    expect(ids(lab)).toEqual(expect.arrayContaining([...before]));
    expect(messages(lab).filter((message) => message.includes("npm run cli -- rebuild --cluster lab"))).toHaveLength(1);
    lab.close();
  });
});
