import { expect, it } from "vitest";
import { statusProblems } from "#core/interruption/instance-status.ts";
import { NOW } from "../../support/builders.ts";

it.for([
  { name: "a check that fails for two minutes", status: { instanceFailedSince: NOW - 120_000, events: [] }, want: ["instance_status"] },
  { name: "a check that fails for a shorter time", status: { instanceFailedSince: NOW - 119_999, events: [] }, want: [] },
  { name: "the host's check", status: { systemFailedSince: NOW - 120_000, events: [] }, want: ["system_status"] },
  { name: "a planned event, at once", status: { events: ["instance-retirement"] }, want: ["event_status"] },
  {
    name: "everything at once",
    status: { instanceFailedSince: 0, systemFailedSince: 0, events: ["system-reboot", "instance-stop"] },
    want: ["instance_status", "system_status", "event_status"],
  },
])("problems of an instance: $name", ({ status, want }) => {
  expect(statusProblems({ instanceId: "i-1", ...status }, NOW).map(({ kind }) => kind)).toEqual(want);
});
