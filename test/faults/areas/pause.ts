import type { Fault } from "../fault.ts";

const STORIES = ["test/lab/pause.test.ts"];
const RULES = ["test/core/pause/pause.test.ts"];
const SIMULATED = ["test/simulation/pauses.test.ts"];

/** Rules of what a pause holds. */
export const FAULTS: readonly Fault[] = [
  {
    name: "drain-continues",
    rule: "a voluntary drain that has begun stops while disruption is paused",
    edits: [
      {
        file: "core/lifecycle/paused.ts",
        find: "if (terminating === undefined || !isVoluntaryEnd(record) || record.instance === undefined) return undefined;",
        replace: "return undefined;",
      },
    ],
    foundBy: "unit",
    within: STORIES,
  },
  {
    name: "purchase-planned",
    rule: "nothing is planned to be bought while launches are paused",
    edits: [{ file: "functions/provision/plan.ts", find: 'buys ? pausedFor("launches", deps) : undefined,', replace: "undefined," }],
    foundBy: "unit",
    within: SIMULATED,
  },
  {
    name: "old-intent-launched",
    rule: "an intent that was written before the pause is not launched during it",
    edits: [
      {
        file: "core/lifecycle/paused.ts",
        find: "if (!isByHand && isCovered(record.createdAt, now)) return undefined;",
        replace: "if (!isByHand) return undefined;",
      },
    ],
    foundBy: "unit",
    within: SIMULATED,
  },
  {
    name: "command-continues",
    rule: "a command under way is given up when disruption is paused",
    edits: [
      {
        file: "core/disruption/command/advance-command.ts",
        find: "const paused = input.pause && whenPaused(context, input.pause);",
        replace: "const paused = undefined as CommandStep | undefined;",
      },
    ],
    foundBy: "unit",
    within: STORIES,
  },
  {
    name: "unreadable-resumes",
    rule: "a document that cannot be read pauses both",
    edits: [
      { file: "core/pause/pause.ts", find: "return isPause(pause) ? pause : held;", replace: "return isPause(pause) ? pause : undefined;" },
    ],
    foundBy: "unit",
    within: RULES,
  },
  {
    name: "misspelled-only",
    rule: "a ConfigMap whose scope cannot be read pauses both, and says so",
    edits: [
      {
        file: "core/pause/pause.ts",
        find: "...(only === undefined || isScope(only) ? []",
        replace: "...(only !== undefined ? []",
      },
    ],
    foundBy: "unit",
    within: RULES,
  },
];
