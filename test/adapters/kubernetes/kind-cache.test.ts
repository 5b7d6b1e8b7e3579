import { expect, it } from "vitest";
import { kindCache } from "#adapters/kubernetes/kind-cache.ts";
import { isAtLeast, isComparable } from "#adapters/kubernetes/resource-version.ts";
import type { Namespace } from "#core/model/workloads.ts";

const namespace = (name: string, resourceVersion: string, labels: Record<string, string> = {}): Namespace => ({
  metadata: { name, resourceVersion, labels },
});
const open = () => kindCache("Namespace", [namespace("a", "5"), namespace("b", "7")], "9");
const versions = (cache: ReturnType<typeof open>) =>
  Object.fromEntries(cache.items().map(({ metadata }) => [metadata.name, metadata.resourceVersion]));

it("the cache follows added, changed and deleted objects", () => {
  const cache = open();
  expect(cache.apply({ type: "ADDED", object: namespace("c", "10") })).toBe(true);
  expect(cache.apply({ type: "MODIFIED", object: namespace("a", "11") })).toBe(true);
  expect(cache.apply({ type: "DELETED", object: namespace("b", "12") })).toBe(true);
  expect([versions(cache), cache.version, cache.size]).toEqual([{ a: "11", c: "10" }, "12", 2]);
});

it("a bookmark advances the version and is no object", () => {
  const cache = open();
  cache.apply({ type: "BOOKMARK", object: namespace("", "20") });
  expect([versions(cache), cache.version]).toEqual([{ a: "5", b: "7" }, "20"]);
});

it("known and older events change nothing", () => {
  const cache = open();
  expect(cache.apply({ type: "DELETED", object: namespace("a", "9") })).toBe(false);
  expect(cache.apply({ type: "MODIFIED", object: namespace("a", "8") })).toBe(false);
  expect([versions(cache), cache.version]).toEqual([{ a: "5", b: "7" }, "9"]);
});

it("an object that was created again is distinguished from one of another namespace", () => {
  const pod = (ns: string, uid: string, resourceVersion: string) => ({
    metadata: { name: "p", namespace: ns, uid, resourceVersion },
    spec: {},
  });
  const cache = kindCache("Pod", [pod("x", "1", "1"), pod("y", "2", "2")], "2");
  cache.apply({ type: "DELETED", object: pod("x", "1", "3") });
  cache.apply({ type: "ADDED", object: pod("x", "3", "4") });
  expect(cache.items().map(({ metadata }) => metadata.uid)).toEqual(["2", "3"]);
});

it("a list that was returned does not change afterwards", () => {
  const cache = open();
  const before = cache.items();
  cache.apply({ type: "DELETED", object: namespace("b", "12") });
  expect(before).toHaveLength(2);
});

it("objects of a watch are pruned like those of lists", () => {
  const cache = kindCache("Namespace", [], "1");
  const managed = { metadata: { ...namespace("a", "2").metadata, managedFields: [{}] } };
  cache.apply({ type: "ADDED", object: managed });
  expect(cache.items()[0]?.metadata).not.toHaveProperty("managedFields");
});

it.for([
  ["9", "10", false],
  ["10", "9", true],
  ["10", "10", true],
  ["18446744073709551616", "9999999999999999999", true],
] as const)("%s is at least %s: %s", ([version, other, want]) => {
  expect(isAtLeast(version, other)).toBe(want);
});

it.for([
  ["12", true],
  ["0", false],
  ["", false],
  ["1a", false],
  [undefined, false],
] as const)("%s can be compared: %s", ([version, want]) => {
  expect(isComparable(version)).toBe(want);
});
