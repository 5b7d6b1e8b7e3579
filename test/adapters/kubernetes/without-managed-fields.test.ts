import fc from "fast-check";
import { expect, it } from "vitest";
import { parsedWithoutManagedFields } from "#adapters/kubernetes/without-managed-fields.ts";

const fields = (names: readonly string[]) => ({
  manager: "kubelet",
  operation: "Update",
  fieldsV1: { "f:status": Object.fromEntries(names.map((name) => [`f:${name}`, { ".": {} }])) },
});
const item = (text: string, names: readonly (readonly string[])[] | undefined) => ({
  metadata: { name: "a", annotations: { note: text }, ...(names && { managedFields: names.map(fields) }) },
  spec: { containers: [{ name: text, args: [text] }] },
});

it("of a list of pods all is read but who wrote which field", () => {
  const items = ["web", "db"].map((name) => item(name, [["phase"], ['k:{"type":"Ready"}']]));
  const read = parsedWithoutManagedFields(JSON.stringify({ items, metadata: { resourceVersion: "7" } }));
  const want = items.map(({ metadata, spec }) => ({ metadata: { ...metadata, managedFields: [] }, spec }));
  expect(read).toEqual({ items: want, metadata: { resourceVersion: "7" } });
});

it("whatever texts say, nothing but managedFields is lost", () => {
  const piece = fc.constantFrom('"managedFields":[{', "}]", '"', "\\", ",", ":", "{", "[", "]", "}", "a", "f:");
  const text = fc.array(piece, { maxLength: 8 }).map((pieces) => pieces.join(""));
  const managed = fc.option(fc.array(fc.array(text, { maxLength: 3 }), { maxLength: 3 }), { nil: undefined });
  fc.assert(
    fc.property(fc.array(fc.tuple(text, managed), { maxLength: 4 }), (given) => {
      const items = given.map(([note, names]) => item(note, names));
      const read = parsedWithoutManagedFields(JSON.stringify({ items })) as { readonly items: typeof items };
      const bare = (list: typeof items) => list.map(({ metadata: { managedFields: _, ...metadata }, spec }) => ({ metadata, spec }));
      expect(bare(read.items)).toEqual(bare(items));
    }),
    { numRuns: 2_000 },
  );
});
