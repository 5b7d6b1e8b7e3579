import { describe, expect, it } from "vitest";
import type { ClusterFacts } from "#core/launch/user-data-input.ts";
import { keptConnections } from "#functions/wiring/kept-connections.ts";

const MINUTE = 60_000;
const c1 = { name: "c1", sources: [] };

/** EKS with its clusters, and a function that is warm. */
function world() {
  const state = { now: 0, endpoint: "https://a", fails: false, asked: [] as (number | undefined)[], made: 0 };
  const lost: (() => void)[] = [];
  const connectionTo = keptConnections({
    factsOf: async ({ name }, maxAgeMs) => {
      state.asked.push(maxAgeMs);
      if (state.fails) throw new Error("out of reach");
      return { name, endpoint: state.endpoint, caBundle: "Q0E=" } satisfies ClusterFacts;
    },
    connect: (_, { endpoint }, whenLost) => {
      lost.push(whenLost);
      state.made += 1;
      return endpoint;
    },
    now: () => state.now,
  });
  return { state, lost, connectionTo };
}

describe("the connection to a cluster", () => {
  it("is made once, also for calls at the same time, and the description is looked at every ten minutes", async () => {
    const { state, connectionTo } = world();
    expect(await Promise.all([connectionTo(c1), connectionTo(c1)])).toEqual(["https://a", "https://a"]);
    state.now = 10 * MINUTE - 1;
    await connectionTo(c1);
    expect([state.asked, state.made]).toEqual([[undefined], 1]);
    state.now = 10 * MINUTE;
    await connectionTo(c1);
    expect([state.asked, state.made]).toEqual([[undefined, undefined], 1]);
  });

  it("is another one when the cluster was made again under its name, a minute after a request had no answer", async () => {
    const { state, lost, connectionTo } = world();
    await connectionTo(c1);
    state.endpoint = "https://b";
    lost[0]?.();
    state.now = MINUTE - 1;
    expect(await connectionTo(c1)).toBe("https://a");
    state.now = MINUTE;
    expect(await connectionTo(c1)).toBe("https://b");
    // A description younger than a minute is good enough: the functions of a stack ask EKS once together.
    expect(state.asked).toEqual([undefined, MINUTE]);
    state.now = 2 * MINUTE;
    await connectionTo(c1);
    expect(state.asked).toHaveLength(2);
  });

  it("an API server that hangs for long costs one look a minute, and the connection stays", async () => {
    const { state, lost, connectionTo } = world();
    await connectionTo(c1);
    for (state.now = 0; state.now <= 5 * MINUTE; state.now += MINUTE / 4) {
      lost[0]?.();
      expect(await connectionTo(c1)).toBe("https://a");
    }
    expect([state.asked.length, state.made]).toEqual([6, 1]);
  });

  it("a first description that fails rejects, and the next call tries again; a later one leaves the connection", async () => {
    const { state, connectionTo } = world();
    state.fails = true;
    await expect(connectionTo(c1)).rejects.toThrow("out of reach");
    state.fails = false;
    expect(await connectionTo(c1)).toBe("https://a");
    Object.assign(state, { now: 20 * MINUTE, fails: true });
    expect(await connectionTo(c1)).toBe("https://a");
  });
});
