import { describe, expect, it } from "vitest";
import { withCondition, withoutCondition, withReady } from "#core/model/conditions.ts";

const at = (now: number) => ({ now, generation: 1 });

describe("conditions", () => {
  it("a condition's lastTransitionTime changes with its status, not with its reason", () => {
    const first = withCondition([], { type: "Launched", status: "Unknown", reason: "LaunchFailed", message: "a" }, at(0));
    const second = withCondition(first, { type: "Launched", status: "Unknown", reason: "Other", message: "b" }, at(60_000));
    expect(second[0]).toMatchObject({ reason: "Other", lastTransitionTime: "1970-01-01T00:00:00Z" });
    const third = withCondition(second, { type: "Launched", status: "True" }, at(120_000));
    expect(third[0]).toMatchObject({ status: "True", reason: "Launched", lastTransitionTime: "1970-01-01T00:02:00Z" });
  });

  it("conditions stay the same array when nothing changes", () => {
    const list = withCondition([], { type: "A", status: "True" }, at(0));
    expect(withCondition(list, { type: "A", status: "True" }, at(99_000))).toBe(list);
    expect(withoutCondition(list, "B")).toBe(list);
  });

  it("a condition that another writer has added behind Ready is no reason to write", () => {
    const ready = withReady(withCondition([], { type: "A", status: "True" }, at(0)), ["A"], at(0));
    const list = withCondition(ready, { type: "Consolidatable", status: "True" }, at(0));
    expect(withReady(list, ["A"], at(99_000))).toBe(list);
  });

  it.for([
    { name: "all true", states: ["True", "True"], status: "True", reason: "Ready" },
    { name: "one unknown", states: ["True", "Unknown"], status: "Unknown", reason: "ReconcilingDependents" },
    { name: "one false", states: ["False", "Unknown"], status: "False", reason: "UnhealthyDependents" },
    { name: "one missing", states: ["True"], status: "Unknown", reason: "ReconcilingDependents" },
  ] as const)("the Ready condition of its dependents: $name", ({ states, status, reason }) => {
    const list = states.reduce(
      (conditions, state, index) => withCondition(conditions, { type: `D${index}`, status: state }, at(0)),
      [] as ReturnType<typeof withCondition>,
    );
    const ready = withReady(list, ["D0", "D1"], at(0));
    expect(ready.at(-1)).toMatchObject({ type: "Ready", status, reason });
    expect(ready.map(({ type }) => type)).toEqual(["D0", "D1", "Ready"]);
  });
});
