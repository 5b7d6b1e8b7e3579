import { describe, expect, it } from "vitest";
import { withIntercept } from "#lab/world/intercept.ts";
import { invoke, KilledError } from "#lab/world/invocation.ts";

function counter() {
  let value = 0;
  return {
    add: async (by: number) => {
      value += by;
      return value;
    },
    value: () => value,
  };
}

describe("intercepted port", () => {
  it("gives the hooks the invocation, the call and its number", async () => {
    const calls: string[] = [];
    const port = withIntercept(counter(), "counter", {
      before: ({ port: name, method, args, invocation, number }) => {
        calls.push(`${invocation?.id} ${number} ${name}.${method}(${args})`);
        return undefined;
      },
    });
    const run = () =>
      invoke("inv-1", "test", async () => {
        await port.add(1);
        return port.add(2);
      });
    expect(await run()).toBe(3);
    expect(calls).toEqual(["inv-1 1 counter.add(1)", "inv-1 2 counter.add(2)"]);
  });

  it("fails a call before its effect or after it", async () => {
    const real = counter();
    const before = withIntercept(real, "counter", {
      before: () => {
        throw new Error("no answer");
      },
    });
    const after = withIntercept(real, "counter", {
      after: () => {
        throw new Error("answer lost");
      },
    });
    await expect(invoke("a", "test", () => before.add(1))).rejects.toThrow("no answer");
    expect(real.value()).toBe(0);
    await expect(invoke("b", "test", () => after.add(1))).rejects.toThrow("answer lost");
    expect(real.value()).toBe(1);
  });

  it("kills an invocation where it is: none of its code runs any more, not even a catch", async () => {
    const real = counter();
    let ran = 0;
    const port = withIntercept(real, "counter", { after: (call) => (call.number === 2 ? "kill" : undefined) });
    const killed = invoke("a", "test", async () => {
      await port.add(1);
      try {
        await port.add(10);
        ran++;
      } catch {
        ran++;
      } finally {
        ran++;
      }
    });
    await expect(killed).rejects.toBeInstanceOf(KilledError);
    await new Promise((resolve) => setImmediate(resolve));
    expect([real.value(), ran]).toEqual([11, 0]);
  });

  it("does not intercept the world's own calls", async () => {
    const port = withIntercept(counter(), "counter", { before: () => "kill" });
    expect(await port.add(1)).toBe(1);
  });
});
