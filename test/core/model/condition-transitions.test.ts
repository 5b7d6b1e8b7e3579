import { expect, it } from "vitest";
import { transitionsOf, transitionText } from "#core/model/condition-transitions.ts";
import type { Condition } from "#core/model/kubernetes.ts";

const is = (type: string, status: Condition["status"], message = ""): Condition => ({ type, status, reason: `${type}Reason`, message });
const told = (before: readonly Condition[] | undefined, after: readonly Condition[] | undefined): readonly string[] =>
  transitionsOf(before, after).map(transitionText);

it("a status that differs is told in Karpenter's words, with the message when there is one", () => {
  const before = [is("Launched", "Unknown"), is("Ready", "True")];
  expect(told(before, [is("Launched", "True"), is("Ready", "False", "Launched=False")])).toEqual([
    "Status condition transitioned, Type: Launched, Status: Unknown -> True, Reason: LaunchedReason",
    "Status condition transitioned, Type: Ready, Status: True -> False, Reason: ReadyReason, Message: Launched=False",
  ]);
});

it("another reason or message of the same status is no transition, and neither is a condition that goes", () => {
  const before = [is("Ready", "True", "a"), is("Drifted", "True")];
  expect(told(before, [{ ...is("Ready", "True", "b"), reason: "Other" }])).toEqual([]);
});

it.for([
  { name: "of an object without Ready is told as a change from Unknown", before: undefined, want: 2 },
  { name: "of an object that has Ready is none, as in Karpenter", before: [is("Ready", "True")], want: 0 },
])("a condition that appears $name", ({ before, want }) => {
  expect(told(before, [is("Launched", "True"), is("Ready", "True")])).toHaveLength(want);
});

it("a new object's Drifted and an Unknown one are no news", () => {
  expect(told(undefined, [is("Drifted", "False"), is("Registered", "Unknown")])).toEqual([]);
});
