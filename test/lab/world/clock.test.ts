import { describe, expect, it } from "vitest";
import { virtualClock } from "#lab/world/clock.ts";

describe("virtual clock", () => {
  it("runs events by time, then by the order they were made in", async () => {
    const clock = virtualClock(1_000);
    const seen: string[] = [];
    const log = (name: string) => () => {
      seen.push(`${name}@${clock.now()}`);
    };
    clock.at(3_000, "c", log("c"));
    clock.after(1_000, "a", log("a"));
    clock.after(1_000, "b", log("b"));
    clock.at(500, "past", log("past"));
    expect(await clock.run()).toBe("empty");
    expect(seen).toEqual(["past@1000", "a@2000", "b@2000", "c@3000"]);
  });

  it("awaits an async event before the next one starts", async () => {
    const clock = virtualClock(0);
    const seen: string[] = [];
    clock.after(10, "slow", async () => {
      seen.push("start");
      await new Promise((resolve) => setImmediate(resolve));
      seen.push("end");
    });
    clock.after(10, "next", () => {
      seen.push("next");
    });
    await clock.run();
    expect(seen).toEqual(["start", "end", "next"]);
  });

  it("moves time for an event that sleeps, in all its branches", async () => {
    const clock = virtualClock(0);
    const woken: number[] = [];
    clock.after(0, "sleeper", async () => {
      await Promise.all(
        [30, 10, 20].map(async (ms) => {
          await clock.sleep(ms);
          woken.push(clock.now());
        }),
      );
      woken.push(-1);
    });
    await clock.run();
    expect(woken).toEqual([10, 20, 30, -1]);
  });

  it("does not run a cancelled event", async () => {
    const clock = virtualClock(0);
    let runs = 0;
    const count = () => {
      runs++;
    };
    clock.after(5, "once", count).cancel();
    const ticks = clock.every(10, "tick", count);
    clock.after(35, "stop", () => ticks.cancel());
    await clock.run();
    expect(runs).toBe(3);
  });

  it("stops at a time, at a condition, when idle, and at `latest`", async () => {
    const clock = virtualClock(0);
    let ticks = 0;
    clock.every(10, "tick", () => {
      ticks++;
    });
    expect(await clock.run({ until: 25 })).toBe("until");
    expect([clock.now(), ticks]).toEqual([25, 2]);
    expect(await clock.run({ until: () => ticks === 5 })).toBe("until");
    expect(clock.now()).toBe(50);
    clock.after(15, "touch", () => clock.touch());
    expect(await clock.run({ idle: 100 })).toBe("idle");
    expect(clock.now()).toBe(165);
    expect(await clock.run({ until: () => false, latest: 200 })).toBe("latest");
    expect(clock.now()).toBe(200);
  });

  it("rejects with the error of an event", async () => {
    const clock = virtualClock(0);
    clock.after(1, "broken", async () => {
      throw new Error("broken world");
    });
    await expect(clock.run()).rejects.toThrow("broken world");
  });

  it.for([0, 1, 2, 3])("interleaves invocations at each remote call as the chooser says (%i)", async (seed) => {
    const play = async () => {
      const clock = virtualClock(0);
      const seen: string[] = [];
      let draws = seed;
      clock.interleave((labels) => {
        draws = (draws * 7 + 3) % 11;
        return draws % labels.length;
      });
      for (const name of ["a", "b"]) {
        clock.after(5, name, async () => {
          for (const step of [1, 2, 3]) {
            await clock.remote(`${name}${step}`);
            seen.push(`${name}${step}`);
          }
        });
      }
      await clock.run();
      return seen;
    };
    const seen = await play();
    expect(await play()).toEqual(seen);
    expect(seen.filter((s) => s.startsWith("a"))).toEqual(["a1", "a2", "a3"]);
    expect(seen.filter((s) => s.startsWith("b"))).toEqual(["b1", "b2", "b3"]);
  });

  it("can start a second invocation between two calls of the first", async () => {
    const clock = virtualClock(0);
    const seen: string[] = [];
    clock.interleave((labels) => labels.length - 1);
    for (const name of ["a", "b"]) {
      clock.after(5, name, async () => {
        await clock.remote(`${name}1`);
        seen.push(`${name}1`);
        await clock.remote(`${name}2`);
        seen.push(`${name}2`);
      });
    }
    await clock.run();
    expect(seen).toEqual(["b1", "b2", "a1", "a2"]);
  });
});
