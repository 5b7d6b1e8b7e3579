import { expect, it } from "vitest";
import type { CommandRecord } from "#core/model/command-record.ts";
import type { NodeClaimRecord } from "#core/model/node-claim-record.ts";
import { checkDisruption, checkedAt, coversSwarm } from "#core/passes/check-disruption.ts";
import { NOW, record } from "../../support/builders.ts";

type State = Parameters<typeof checkDisruption>[0];
type Facts = Parameters<typeof checkDisruption>[1];

const SECOND = 1_000;
const NEVER = { any: undefined, fresh: undefined };
const command = (phase: CommandRecord["phase"], seconds: number): CommandRecord =>
  ({ phase, dueAt: NOW + seconds * SECOND }) as CommandRecord;
const WAITS = command("Validating", 10);
const ago = (any: number, fresh: number) => ({ any: NOW - any * SECOND, fresh: NOW - fresh * SECOND });

it.for<{ name: string; cause: State["cause"]; state?: Partial<State>; facts?: Facts; want: string }>([
  { name: "20 s after a pass, 60 s after a sweep", cause: "Sweep", state: { last: ago(20, 60) }, want: "skip" },
  { name: "30 s after a pass", cause: "Sweep", state: { last: ago(30, 60) }, want: "read commands" },
  { name: "20 s after a pass, 90 s after a sweep", cause: "Sweep", state: { last: ago(20, 90) }, want: "read commands" },
  { name: "a pass just before it", cause: "PodsMoved", state: { last: ago(3.999, 90) }, want: "skip" },
  { name: "a pass 4 s before it", cause: "PodsMoved", state: { last: ago(4, 90) }, want: "read isFirstOfSpan" },
  { name: "another process's pass", cause: "NodesRemoved", facts: { isFirstOfSpan: false }, want: "skip" },
  { name: "no other pass", cause: "PodsMoved", facts: { isFirstOfSpan: true }, want: "read commands" },
  { name: "a time that is asked for", cause: "Due", want: "read nextPassAt" },
  { name: "a time that comes later", cause: "Due", facts: { nextPassAt: NOW + 1_001 }, want: "skip" },
  // Clocks of two processes may differ by a second.
  { name: "a time that has come", cause: "Due", facts: { nextPassAt: NOW + 1_000 }, want: "read commands" },
  { name: "no time that is known", cause: "Due", facts: { nextPassAt: Number.NaN }, want: "read commands" },
  { name: "only events to wait for", cause: "Due", facts: { nextPassAt: Number.POSITIVE_INFINITY }, want: "skip" },
  { name: "a cluster that leaves the stack", cause: "PutOff", state: { isLeaving: true }, want: "skip" },
  { name: "no commands", cause: "Due", facts: { nextPassAt: NOW, commands: [] }, want: "run known" },
  { name: "no commands", cause: "DefinitionChanged", facts: { commands: [] }, want: "run fresh" },
  { name: "a command to validate later", cause: "PutOff", facts: { commands: [command("Replacing", -1), WAITS] }, want: "wait 10" },
  { name: "the same, and a replacement that is ready", cause: "ReplacementReady", facts: { commands: [WAITS] }, want: "run known" },
  {
    name: "a command to validate now",
    cause: "Due",
    facts: { nextPassAt: NOW, commands: [command("Validating", 0), WAITS] },
    want: "run fresh",
  },
  { name: "a command that deletes", cause: "ReplacementReady", facts: { commands: [command("Deleting", 0), WAITS] }, want: "run known" },
  { name: "a command that is rolled back", cause: "PutOff", facts: { commands: [command("RollingBack", 0), WAITS] }, want: "run fresh" },
  { name: "a command that waits for replacements", cause: "PutOff", facts: { commands: [command("Replacing", -1)] }, want: "run fresh" },
  { name: "perhaps the last node", cause: "NodesRemoved", facts: { isFirstOfSpan: true, commands: [] }, want: "read records" },
  { name: "the last node", cause: "NodesRemoved", facts: { isFirstOfSpan: true, commands: [], records: [] }, want: "skip" },
  {
    name: "one node of several",
    cause: "NodesRemoved",
    facts: { isFirstOfSpan: true, commands: [], records: [record({}) as NodeClaimRecord] },
    want: "run known",
  },
  {
    name: "work without nodes",
    cause: "NodesRemoved",
    state: { hasWorkWithoutNodes: true },
    facts: { isFirstOfSpan: true, commands: [] },
    want: "run known",
  },
])("$cause with $name: $want", ({ cause, state = {}, facts = {}, want }) => {
  const answer = checkDisruption({ ...{ cause, now: NOW, last: NEVER, isLeaving: false, hasWorkWithoutNodes: false }, ...state }, facts);
  const details = {
    ...{
      skip: () => "",
      read: () => ` ${(answer as { fact: string }).fact}`,
      run: () => ((answer as { isFresh: boolean }).isFresh ? " fresh" : " known"),
    },
    wait: () => ` ${((answer as { until: number }).until - NOW) / SECOND}`,
  };
  expect(`${answer.next}${details[answer.next]()}`).toBe(want);
});

it.for([
  { ms: 3_999, covers: true },
  { ms: 4_000, covers: false },
  // The clock was set back.
  { ms: -1, covers: false },
])("a pass that began $ms ms ago covers a wake-up that swarms: $covers", ({ ms, covers }) => {
  expect(coversSwarm({ any: NOW - ms, fresh: undefined }, NOW)).toBe(covers);
});

it("times that follow each other closely are checked together", () => {
  expect([10, 10.001, 12, 15].map((at) => checkedAt(at * SECOND) / SECOND)).toEqual([10, 15, 15, 15]);
  expect(checkedAt(Number.POSITIVE_INFINITY)).toBe(Number.POSITIVE_INFINITY);
});
