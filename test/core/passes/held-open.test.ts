import { expect, it } from "vitest";
import { hasOutwaited, windowState } from "#core/passes/held-open.ts";
import { NOW } from "../../support/builders.ts";
import { pod } from "../../support/objects.ts";

const WINDOW = { now: NOW, batchMaxMs: 10_000 };
const aged = (ms: number, spec = {}) => pod("a", { spec, metadata: { creationTimestamp: new Date(NOW - ms).toISOString() } });

it.for([
  { name: "a pod that has waited for the longest window", pods: [aged(10_000)], want: false },
  { name: "a pod that has waited longer", pods: [aged(1_000), aged(11_000)], want: true },
  { name: "a pod on a node", pods: [aged(11_000, { nodeName: "n" })], want: false },
])("$name has outwaited it: $want", ({ pods, want }) => {
  expect(hasOutwaited(pods, WINDOW)).toBe(want);
});

it.for([
  { ageMs: Number.NaN, want: "begins" },
  { ageMs: -1, want: "begins" },
  { ageMs: 9_999, want: "open" },
  { ageMs: 10_000, want: "overdue" },
  { ageMs: 29_999, want: "overdue" },
  { ageMs: 30_000, want: "begins" },
])("windows that began $ageMs ms ago: $want", ({ ageMs, want }) => {
  expect(windowState(NOW - ageMs, WINDOW)).toBe(want);
});
