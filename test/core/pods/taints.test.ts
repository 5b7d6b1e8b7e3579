import { describe, expect, it } from "vitest";
import type { Taint, Toleration } from "#core/model/taint.ts";
import { describeTaint, toleratesTaint, untolerated } from "#core/pods/taints.ts";

const taint: Taint = { key: "dedicated", value: "gpu", effect: "NoSchedule" };

describe("a toleration covers a taint", () => {
  it.for<{ toleration: Toleration; covers: boolean }>([
    { toleration: { key: "dedicated", value: "gpu" }, covers: true },
    { toleration: { key: "dedicated", operator: "Equal", value: "gpu", effect: "NoSchedule" }, covers: true },
    { toleration: { key: "dedicated", operator: "Exists" }, covers: true },
    { toleration: { operator: "Exists" }, covers: true },
    { toleration: { operator: "Exists", effect: "NoSchedule" }, covers: true },
    { toleration: { key: "dedicated", operator: "Exists", effect: "" as never }, covers: true },
    { toleration: { key: "dedicated", operator: "Exists", effect: "NoExecute" }, covers: false },
    { toleration: { operator: "Exists", effect: "PreferNoSchedule" }, covers: false },
    { toleration: { key: "dedicated" }, covers: false },
    { toleration: { key: "dedicated", value: "cpu" }, covers: false },
    { toleration: { key: "other", value: "gpu" }, covers: false },
    { toleration: { value: "gpu" }, covers: false },
  ])("$toleration tolerates the taint: $covers", ({ toleration, covers }) => {
    expect(toleratesTaint(toleration, taint)).toBe(covers);
  });

  it.for<{ operator: "Gt" | "Lt"; value: string; covers: boolean }>([
    { operator: "Gt", value: "4", covers: true },
    { operator: "Gt", value: "5", covers: false },
    { operator: "Lt", value: "6", covers: true },
    { operator: "Lt", value: "5", covers: false },
  ])("a taint value of 5 against $operator $value is tolerated: $covers", ({ operator, value, covers }) => {
    expect(toleratesTaint({ key: "gen", operator, value }, { key: "gen", value: "5", effect: "NoSchedule" })).toBe(covers);
  });
});

it("untolerated finds the first taint without a toleration, PreferNoSchedule included", () => {
  const soft: Taint = { key: "spare", effect: "PreferNoSchedule" };
  expect(untolerated([taint, soft], [{ key: "dedicated", operator: "Exists" }])).toBe(soft);
  expect(untolerated([taint, soft], [{ operator: "Exists" }])).toBeUndefined();
  expect(untolerated([], [])).toBeUndefined();
});

it.for<{ shown: Taint; text: string }>([
  { shown: taint, text: "dedicated=gpu:NoSchedule" },
  { shown: { key: "spare", effect: "NoExecute" }, text: "spare:NoExecute" },
  { shown: { key: "spare", value: "", effect: "NoExecute" }, text: "spare:NoExecute" },
])("describeTaint writes $text as kubectl does", ({ shown, text }) => {
  expect(describeTaint(shown)).toBe(text);
});
