import type { Fault } from "../fault.ts";

const CHECK = ["test/installer/account-check/account-check.test.ts"];
const DOCTOR = ["test/installer/checks/doctor.test.ts"];

/** What is asked of an account, and removed from it. */
export const FAULTS: readonly Fault[] = [
  {
    name: "clean-looks-once",
    rule: "--clean looks for a machine as long as EC2 may list it late",
    edits: [{ file: "installer/account-check/clean.ts", find: "LISTED_LATE_MS = 60_000", replace: "LISTED_LATE_MS = 0" }],
    foundBy: "unit",
    within: CHECK,
  },
  {
    name: "clean-of-others",
    rule: "--clean --run removes what that run made, and nothing of another one",
    edits: [{ file: "installer/account-check/clean.ts", find: "cloud.templates(tagOf(runId))", replace: "cloud.templates(tagOf())" }],
    foundBy: "unit",
    within: CHECK,
  },
  {
    name: "machines-unasked",
    rule: "account-check makes nothing before a person has agreed",
    edits: [{ file: "installer/account-check/run.ts", find: "if (!yes) await agree(ports);", replace: "" }],
    foundBy: "unit",
    within: CHECK,
  },
  {
    name: "guard-on-is-healthy",
    rule: "a function of a loop whose RecursiveLoop is Terminate is a fault",
    edits: [{ file: "installer/checks/live.ts", find: '({ value }) => value !== "Allow"', replace: '({ value }) => value === ""' }],
    foundBy: "unit",
    within: DOCTOR,
  },
  {
    name: "reservation-of-none",
    rule: "a reserved concurrency of 0 is a fault, no reservation is none",
    edits: [{ file: "installer/checks/live.ts", find: "({ value }) => value === 0", replace: "({ value }) => value === -1" }],
    foundBy: "unit",
    within: DOCTOR,
  },
];
