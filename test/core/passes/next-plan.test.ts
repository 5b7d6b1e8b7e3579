import { expect, it } from "vitest";
import { nextPlan } from "#core/passes/next-plan.ts";
import { record } from "../../support/builders.ts";

const NOW = Date.parse("2026-01-01T09:00:00Z");
const at = (second: number): number => NOW + second * 1_000;

it.for([
  { what: "no NodeClaims", records: [], want: undefined },
  { what: "a NodeClaim on its way", records: [record({ createdAt: at(-20) })], want: 10 },
  { what: "a NodeClaim that is initialized", records: [record({ createdAt: at(-20), initializedAt: at(-1) })], want: undefined },
  {
    what: "a NodeClaim that terminates",
    records: [record({ createdAt: at(-20), terminating: { reason: "deleted", at: at(-1) } })],
    want: undefined,
  },
  { what: "a NodeClaim that should long have joined", records: [record({ createdAt: at(-4 * 60) })], want: undefined },
])("with $what, pods that a plan leaves are planned for again after $want s", ({ records, want }) => {
  expect(nextPlan(records, NOW)).toBe(want === undefined ? undefined : at(want));
});

it("many plans within a short time ask for one more, which is five to fifteen seconds away", () => {
  const records = [record({ createdAt: NOW })];
  const looks = Array.from({ length: 300 }, (_, i) => [at(i / 10), nextPlan(records, at(i / 10)) ?? 0] as const);
  for (const [now, look] of looks) expect(look - now).toSatisfy((wait: number) => wait >= 5_000 && wait <= 15_000);
  expect(new Set(looks.map(([, look]) => look)).size).toBeLessThanOrEqual(4);
});

it.for([
  { what: "an offering that comes back", ends: { retriedAt: at(42) }, want: 42 },
  { what: "one that comes back within a second", ends: { retriedAt: at(42) - 300 }, want: 42 },
  { what: "one that comes back at once", ends: { retriedAt: at(1) }, want: 5 },
  { what: "one that comes back before refused pods are planned again", ends: { retriedAt: at(12), refusedUntil: at(60) }, want: 12 },
  { what: "one that comes back after them", ends: { retriedAt: at(72), refusedUntil: at(60) }, want: 60 },
  {
    what: "one that comes back while a NodeClaim is on its way",
    ends: { retriedAt: at(72) },
    records: [record({ createdAt: NOW })],
    want: 10,
  },
])("for $what, pods are planned for again after $want s", ({ ends, records = [], want }) => {
  expect(nextPlan(records, NOW, ends)).toBe(at(want));
});
