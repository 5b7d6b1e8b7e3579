import fc from "fast-check";
import { expect, it } from "vitest";
import type { InstanceType } from "#core/model/instance-type.ts";
import { allocatableOf } from "#core/offerings/overhead.ts";
import { ResourceColumns } from "#core/scheduling/tables/resource-columns.ts";

const NAMES = ["cpu", "memory", "pods", "hugepages-2Mi", "hugepages-1Gi"] as const;
const quantity = fc.constantFrom("1", "250m", "2", "1Gi", "1536Mi", "3G");
const list = fc.dictionary(fc.constantFrom(...NAMES), quantity, { maxKeys: 4 });
const types = fc
  .array(
    fc.record({
      capacity: list,
      overhead: fc.record({ kubeReserved: list, systemReserved: list, evictionThreshold: list }, { requiredKeys: [] }),
    }),
    { maxLength: 5 },
  )
  .map((all) => all.map((type, i): InstanceType => ({ ...type, name: `type-${i}`, requirements: [], offerings: [] })));

it("columns of resources hold what each type has by itself, whichever is asked for first", () => {
  fc.assert(
    fc.property(types, fc.shuffledSubarray([...NAMES]), (all, asked) => {
      const columns = new ResourceColumns(all);
      for (const name of asked) {
        const wanted = all.map((type) => (name in type.capacity ? allocatableOf(type)[name] : undefined));
        wanted.forEach((amount, t) => {
          if (amount !== undefined) expect(columns.allocatable(name)[t]).toBe(amount);
        });
      }
      expect(columns.names).toEqual(new Set(all.flatMap(({ capacity }) => Object.keys(capacity))));
    }),
  );
});

it("a resource that a type does not list is 0 of its capacity, and what is reserved of it is missing", () => {
  const overhead = { kubeReserved: { "example.com/fuse": "1" } };
  const columns = new ResourceColumns([{ name: "a", requirements: [], capacity: { cpu: "2" }, overhead, offerings: [] }]);
  expect([...columns.capacity("toString")]).toEqual([0]);
  expect([...columns.capacity("example.com/fuse")]).toEqual([0]);
  expect([...columns.allocatable("example.com/fuse")]).toEqual([-1000]);
});

it("an invalid quantity is told with its resource, and only when that resource is asked for", () => {
  const capacity = { cpu: "2", memory: "much" };
  const columns = new ResourceColumns([{ name: "a", requirements: [], capacity, overhead: {}, offerings: [] }]);
  expect([...columns.allocatable("cpu")]).toEqual([2000]);
  expect(() => columns.allocatable("memory")).toThrow('resource memory: quantity "much" is not valid');
});
