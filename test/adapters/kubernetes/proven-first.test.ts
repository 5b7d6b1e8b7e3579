import { expect, it } from "vitest";
import { provenFirst } from "#adapters/kubernetes/proven-first.ts";

function port() {
  const done: string[] = [];
  const body = (name: string) => async (given: string) => {
    done.push(`${name} ${given}`);
    return given;
  };
  return { done, read: body("read"), write: body("write") };
}

it("a write waits for the proof, a read does not", async () => {
  const inner = port();
  let prove = (): void => {};
  const guarded = provenFirst(inner, ["write"], () => new Promise((done) => (prove = done)));
  const writing = guarded.write("a");
  expect(await guarded.read("b")).toBe("b");
  expect(inner.done).toEqual(["read b"]);
  prove();
  expect(await writing).toBe("a");
  expect(inner.done).toEqual(["read b", "write a"]);
});

it("a write does nothing when the proof fails", async () => {
  const inner = port();
  const guarded = provenFirst(inner, ["write"], async () => {
    throw new Error("changed");
  });
  await expect(guarded.write("a")).rejects.toThrow("changed");
  expect(inner.done).toEqual([]);
});
