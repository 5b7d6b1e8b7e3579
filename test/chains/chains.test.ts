import { describe, expect, it } from "vitest";
import { casesOf, type Outcome, playCase } from "./cases.ts";

const CASES = casesOf(3);
const play = async (name: string, isGuarded: boolean, sources: readonly "notify"[] = ["notify"]): Promise<Outcome> => {
  const one = CASES.find((each) => each.name === name);
  if (one === undefined) throw new Error(`there is no case ${name}`);
  return playCase(one, { sources, isGuarded });
};

describe("wake-ups of a node that ends", () => {
  it.for(["drain, pods stay 0 s", "drain, pods stay 40 s", "spot notice, pods stay 30 s", "3 drifting nodes, pods stay 30 s"])(
    "%s: the guard of Lambda stops nothing, because no chain is long",
    async (name) => {
      const { longest, stopped, deadLetters } = await play(name, true);
      expect({ longest: longest <= 8, stopped, deadLetters }).toEqual({ longest: true, stopped: 0, deadLetters: 0 });
    },
  );

  it("without any source of events, too", async () => {
    const { longest, stopped } = await play("drain, pods stay 120 s", true, []);
    expect([longest <= 16, stopped]).toEqual([true, 0]);
  });

  const BLOCKED = "drain, a PodDisruptionBudget blocks it for 8 minutes";

  it("may be a long chain while a PodDisruptionBudget blocks a drain: as the template is, nothing is stopped", async () => {
    const { longest, stopped, deadLetters } = await play(BLOCKED, false);
    expect(longest).toBeGreaterThan(16);
    expect([stopped, deadLetters]).toEqual([0, 0]);
  });

  it("end all the same under the guard: the sweep takes over within a minute, and the dead letters are counted", async () => {
    const [off, on] = [await play(BLOCKED, false), await play(BLOCKED, true)];
    expect(on.stopped).toBeGreaterThan(0);
    expect(on.deadLetters).toBeGreaterThan(0);
    expect(on.seconds - off.seconds).toBeLessThanOrEqual(75);
  });
});
