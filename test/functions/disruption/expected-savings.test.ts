import { expect, it } from "vitest";
import type { CommandRecord } from "#core/model/command-record.ts";
import { ThrottledError, UnreadableRecordError } from "#core/ports/errors.ts";
import { followSavings, readExpectedSavings } from "#functions/disruption/expected-savings.ts";
import { ProcessMemory } from "#functions/shared/process-memory.ts";
import { snapshot } from "../../core/disruption/builders.ts";
import { recordingLog } from "../../support/fakes.ts";

const COMMAND: CommandRecord = {
  ...{ cluster: "c", id: "1", version: 0, method: "multi", reason: "Underutilized", decision: "delete", replacements: [] },
  candidates: [
    {
      ...{ nodeClaim: "a-claim", node: "a", nodePool: "default", instanceType: "large", capacityType: "on-demand", zone: "a" },
      ...{ pricePerHour: 0.4, pods: [] },
    },
  ],
  ...{ replacementClaims: [], savingsPerHour: 0.4, phase: "Validating", createdAt: 0, since: 0, dueAt: 0 },
};
const STATE = { snapshot: snapshot({ machines: [{ name: "a" }, { name: "b" }] }), commands: [] };

/** A table with one document, and what is written to it. */
function table(text?: string) {
  const written: string[] = [];
  const log = recordingLog();
  const document = text === undefined ? undefined : { bytes: new TextEncoder().encode(text), version: "1" };
  const store = {
    getDocument: async () => document,
    putDocument: async (_: string, bytes: Uint8Array) => void written.push(new TextDecoder().decode(bytes)),
  };
  return { written, log, deps: { cluster: { name: "c" }, memory: new ProcessMemory(), settings: {}, store, log } as never };
}

it("what a consolidation is to save is stored as it begins, and read again", async () => {
  const { written, deps } = table();
  const expected = await followSavings(COMMAND, { ...COMMAND, phase: "Deleting" }, STATE, undefined, deps);
  expect(expected).toMatchObject({ command: "1", missed: 0 });
  expect(await readExpectedSavings(table(written[0]).deps)).toEqual(expected);
});

it.for([
  { name: "the removal of an empty node", command: { ...COMMAND, method: "emptiness" } as const, phase: "Deleting" as const },
  { name: "the replacement of a drifted node", command: { ...COMMAND, method: "drift" } as const, phase: "Replacing" as const },
  { name: "a consolidation that is still being validated", command: COMMAND, phase: "Validating" as const },
  {
    name: "a later step of a consolidation",
    command: { ...COMMAND, phase: "Replacing" } as const,
    phase: "Deleting" as const,
  },
])("$name is no new expectation", async ({ command, phase }) => {
  const { written, deps } = table();
  expect(await followSavings(command, { ...command, phase }, STATE, undefined, deps)).toBeUndefined();
  expect(written).toEqual([]);
});

it("nothing is expected of a consolidation that is given up, and that of another command stays", async () => {
  const { written, deps } = table();
  const begun = await followSavings(COMMAND, { ...COMMAND, phase: "Replacing" }, STATE, undefined, deps);
  const given = { ...COMMAND, phase: "RollingBack" } as const;
  expect(await followSavings({ ...given, phase: "Replacing" }, given, STATE, begun, deps)).toMatchObject({ savesPerHour: 0 });
  expect(written).toHaveLength(2);
  const other = begun && { ...begun, command: "2" };
  expect(await followSavings({ ...given, phase: "Replacing" }, given, STATE, other, deps)).toEqual(other);
  expect(written).toHaveLength(2);
});

it.for([
  { name: "is no JSON", text: "{" },
  { name: "is null", text: "null" },
  { name: "is of a version that calls its fields otherwise", text: '{"command":"1","at":1}' },
  { name: "has a text for a number", text: '{"command":"1","at":"1","costPerHour":1,"savesPerHour":1,"cpu":1,"memory":1,"missed":0}' },
])("a document that $name is told and forgotten", async ({ text }) => {
  const { log, deps } = table(text);
  expect(await readExpectedSavings(deps)).toBeUndefined();
  expect(log.errors).toEqual(["What the last consolidation was to save cannot be read, and counts as absent until it is written again"]);
});

/** A table whose reads fail. */
function failingTable(error: Error) {
  const { log, deps } = table();
  const store = { getDocument: () => Promise.reject(error) };
  return { log, deps: { ...(deps as object), store } as never };
}

it("a document that the table cannot unpack is told and forgotten", async () => {
  const { log, deps } = failingTable(new UnreadableRecordError("lacks chunks"));
  expect(await readExpectedSavings(deps)).toBeUndefined();
  expect(log.errors).toEqual(["What the last consolidation was to save cannot be read, and counts as absent until it is written again"]);
});

it("a table that does not answer is not taken for one without a document", async () => {
  const { log, deps } = failingTable(new ThrottledError("later"));
  await expect(readExpectedSavings(deps)).rejects.toThrow("later");
  expect(log.errors).toEqual([]);
});

it("before the first consolidation there is nothing to tell", async () => {
  const { log, deps } = table();
  expect(await readExpectedSavings(deps)).toBeUndefined();
  expect(log.errors).toEqual([]);
});
