import { describe, expect, it } from "vitest";
import type { CallHooks } from "#lab/world/intercept.ts";
import { KILLS_EVERY } from "../support/effort.ts";
import { killedAt, killPoints, unharmed } from "./kill-everywhere.ts";
import { play, STORIES } from "./story.ts";

describe.for(STORIES)("$name", (story) => {
  it("the story ends in the same state wherever a handler is killed", async () => {
    const plain = await unharmed(story, 1);
    const points = killPoints(plain, KILLS_EVERY);
    expect(points.length).toBeGreaterThanOrEqual(3);
    for (const point of points) {
      const { at, ending } = await killedAt(story, 1, point, plain.ending);
      expect(ending, `killed ${point.when} ${at}`).toEqual(plain.ending);
    }
  }, 60_000);
});

/** Kills the invocation of the first such call, after its effect. */
function killAfter(port: string, method: string): CallHooks {
  let done = false;
  return {
    after: (call) => {
      if (done || call.port !== port || call.method !== method) return undefined;
      done = true;
      return "kill";
    },
  };
}

describe("the simulation can see", () => {
  const scaleUp = STORIES[0];
  if (scaleUp === undefined) throw new Error("there are no stories");

  it("a launch that is killed before its answer is stored starts one machine, not two", async () => {
    const { lab } = await play(scaleUp, 1, killAfter("fleet", "launch"));
    expect(lab.cloud.machines()).toHaveLength(1);
    lab.close();
  });

  it("planted bug: without a steady client token the same kill starts two", async () => {
    let attempt = 0;
    const kill = killAfter("fleet", "launch");
    const { lab } = await play(scaleUp, 1, {
      ...kill,
      before: (call) => {
        if (call.method === "launch") Object.assign(call.args[0] as object, { clientToken: `token-${attempt++}` });
        return undefined;
      },
    });
    expect(lab.cloud.machines().length).toBeGreaterThan(1);
    lab.close();
  });

  it("lost wake-ups cost time and no nodes, because the sweep finds overdue work", async () => {
    const { lab, ending } = await play(scaleUp, 1, {
      before: (call) => {
        const lost = call.method === "wake" && call.invocation?.name === "provision";
        if (lost) (call.args as unknown[])[0] = [];
        return undefined;
      },
    });
    expect(ending.runningPods).toBe(5);
    lab.close();
  });
});
