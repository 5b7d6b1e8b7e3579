import { expect, it } from "vitest";
import { provenFirst } from "../../../../functions/adapters/kubernetes/proven-first.ts";

function port() {
  const done: string[] = [];
  const body = (name: string) => async (given: string) => {
    done.push(`${name} ${given}`);
    return given;
  };
  return { done, read: body("read"), write: body("write") };
}

it("lets a write wait for the proof, and a read not", async () => {
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

it("does nothing when the proof fails", async () => {
  const inner = port();
  const guarded = provenFirst(inner, ["write"], async () => {
    throw new Error("changed");
  });
  await expect(guarded.write("a")).rejects.toThrow("changed");
  expect(inner.done).toEqual([]);
});
