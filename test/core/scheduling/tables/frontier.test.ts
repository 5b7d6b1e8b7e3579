import fc from "fast-check";
import { expect, it } from "vitest";
import { emptyBitset, hasBit, setBit } from "#core/scheduling/tables/bitset.ts";
import { Frontier } from "#core/scheduling/tables/frontier.ts";

const amount = fc.integer({ min: 0, max: 6 });
const type = fc.record({ price: fc.integer({ min: 1, max: 5 }), room: fc.tuple(amount, amount), allowed: fc.boolean() });
const NO_PLACE = -1;

const mostOf = (types: readonly { readonly room: readonly number[]; readonly allowed: boolean }[]): Float64Array =>
  Float64Array.from([0, 1], (r) => Math.max(0, ...types.map(({ room, allowed }) => (allowed ? (room[r] ?? 0) : 0))));

it("the frontier finds the same lowest price, and the same cheapest share, as a scan of all types", () => {
  fc.assert(
    fc.property(fc.array(type, { maxLength: 12 }), fc.array(fc.tuple(amount, amount), { minLength: 1, maxLength: 6 }), (types, needs) => {
      const allowed = emptyBitset(types.length);
      for (const [t, { allowed: isAllowed }] of types.entries()) if (isAllowed) setBit(allowed, t);
      const ranked = types.map(({ price }, t) => ({ type: t, price, maxCpu: Number.POSITIVE_INFINITY }));
      const frontier = new Frontier({
        ranked: ranked.sort((a, b) => a.price - b.price || a.type - b.type),
        types: allowed,
        room: Float64Array.from(types.flatMap(({ room }) => room)),
        width: 2,
        most: mostOf(types),
        cpu: -1,
      });
      // In any order, because queries extend the frontier.
      for (const need of needs) {
        const fitting = types.filter(({ room }, t) => hasBit(allowed, t) && room.every((has, r) => (need[r] ?? 0) <= has));
        const cheapest = fitting.length === 0 ? undefined : Math.min(...fitting.map(({ price }) => price));
        const place = frontier.first(Float64Array.from(need), 0);
        expect(place === NO_PLACE ? undefined : frontier.priceAt(place)).toBe(cheapest);
        const shares = fitting.map(({ room, price }) => price * Math.max(0, ...need.map((n, r) => (n > 0 ? n / (room[r] ?? 0) : 0))));
        expect(frontier.share(Float64Array.from(need))).toBe(Math.min(...shares));
      }
    }),
  );
});

it("a search on the frontier can continue from the place of a smaller request", () => {
  const frontier = new Frontier({
    ranked: [0, 1, 2].map((t) => ({ type: t, price: t + 1, maxCpu: Number.POSITIVE_INFINITY })),
    types: Uint32Array.of(0b111),
    room: Float64Array.of(1, 2, 4),
    width: 1,
    most: Float64Array.of(4),
    cpu: -1,
  });
  const small = frontier.first(Float64Array.of(2), 0);
  expect(frontier.priceAt(small)).toBe(2);
  expect(frontier.priceAt(frontier.first(Float64Array.of(3), small))).toBe(3);
  expect(frontier.first(Float64Array.of(5), small)).toBe(NO_PLACE);
});

it("a type that costs more the more cpu is requested is on the frontier once for each price", () => {
  const frontier = new Frontier({
    ranked: [
      { type: 0, price: 1, maxCpu: 2 },
      { type: 1, price: 2, maxCpu: Number.POSITIVE_INFINITY },
      { type: 0, price: 3, maxCpu: Number.POSITIVE_INFINITY },
    ],
    types: Uint32Array.of(0b11),
    room: Float64Array.of(8, 8, 4, 4),
    width: 2,
    most: Float64Array.of(8, 8),
    cpu: 1,
  });
  const at = (memory: number, cpu: number): readonly number[] => {
    const place = frontier.first(Float64Array.of(memory, cpu), 0);
    return [frontier.typeAt(place), frontier.priceAt(place)];
  };
  expect(at(1, 2)).toEqual([0, 1]);
  expect(at(1, 3)).toEqual([1, 2]);
  expect(at(1, 5)).toEqual([0, 3]);
  expect(at(8, 2)).toEqual([0, 1]);
});
