import { describe, expect, it } from "vitest";
import { ProcessMemory } from "#functions/shared/process-memory.ts";
import { drawScript } from "./draw/script.ts";
import { play as playScript } from "./play.ts";
import { play, STORIES } from "./story.ts";

/** A memory that is empty at each access, as if each invocation had a process of its own. */
class NoMemory extends ProcessMemory {
  override recall(): undefined {
    return undefined;
  }
}
const newMemory = (): ProcessMemory => new NoMemory();

describe("the memory of a process only saves requests, and decides nothing", () => {
  it.for(STORIES)("$name ends with the same machines and pods without it", { timeout: 60_000 }, async (story) => {
    const calls: number[] = [];
    const endOf = async (options: Parameters<typeof play>[3]) => {
      const { lab, ending } = await play(story, 1, {}, options);
      lab.close();
      calls.push([...lab.calls.values()].reduce((sum, count) => sum + count, 0));
      return ending;
    };
    expect(await endOf({ newMemory })).toEqual(await endOf({}));
    const [without = 0, withMemory = 0] = calls;
    expect(without).toBeGreaterThan(withMemory);
  });

  it.for([3, 2311])("seed %i of the simulation breaks no invariant without it", { timeout: 60_000 }, async (seed) => {
    const { violations } = await playScript(drawScript(seed, 20), { newMemory });
    expect(violations).toEqual([]);
  });
});
