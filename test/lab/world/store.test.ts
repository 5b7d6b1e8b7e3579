import { expect, it } from "vitest";
import { seeded } from "#lab/world/random.ts";
import { objectStore } from "#lab/world/store.ts";

/** Creates a pod of a generated name in a store that draws these suffixes. */
function named(prefix: string, suffixes: readonly string[]) {
  const left = [...suffixes];
  const store = objectStore({ now: () => 0, touch: () => {} }, { ...seeded(1), suffix: () => left.shift() ?? "" });
  const create = (): string =>
    store.create(
      { apiVersion: "v1", kind: "Pod", metadata: { name: "", generateName: prefix } as never, spec: { containers: [] } } as never,
      { user: "test" },
    ).metadata.name;
  return { create, left };
}

it("a generated name that is taken is drawn again, as the API server does", () => {
  const { create } = named("web-", ["aaaaa", "aaaaa", "aaaaa", "bbbbb"]);
  expect([create(), create()]).toEqual(["web-aaaaa", "web-bbbbb"]);
});

it("after eight names that are taken a creation is refused", () => {
  const { create, left } = named(
    "web-",
    Array.from({ length: 20 }, () => "aaaaa"),
  );
  create();
  expect(create).toThrow('Pod "web-aaaaa" already exists');
  expect(left).toHaveLength(20 - 1 - 8);
});

it("a generated name keeps 58 characters of its prefix", () => {
  expect(named(`${"x".repeat(70)}-`, ["aaaaa"]).create()).toBe(`${"x".repeat(58)}aaaaa`);
});

it("no two worlds of neighbouring seeds have the same forks", () => {
  const first = Array.from({ length: 1_000 }, (_, seed) => seeded(seed).fork("pods").uuid());
  expect(new Set(first).size).toBe(1_000);
});
