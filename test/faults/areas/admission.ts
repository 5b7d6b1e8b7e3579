import type { Fault } from "../fault.ts";

const POOL = ["test/core/admission/node-pool.test.ts"];
const CLASS = ["test/core/admission/node-class.test.ts"];
const DEFAULTS = ["test/core/admission/defaults.test.ts"];
const ANSWERS = ["test/functions/admission/admit.test.ts"];
const MANIFESTS = ["test/infra/manifests.test.ts"];

/** Rules of admission, each broken in the place that keeps it. */
export const FAULTS: readonly Fault[] = [
  {
    name: "old-fault",
    rule: "a problem that an object had before does not refuse an update",
    edits: [
      { file: "core/admission/verdict.ts", find: "const known = new Set(before?.problems);", replace: "const known = new Set<string>();" },
    ],
    foundBy: "unit",
    within: POOL,
  },
  {
    name: "new-fault",
    rule: "an update adds no problem",
    edits: [
      {
        file: "core/admission/verdict.ts",
        find: "filter((problem) => !known.has(problem))",
        replace: "filter((problem) => before === undefined && !known.has(problem))",
      },
    ],
    foundBy: "unit",
    within: POOL,
  },
  {
    name: "cron",
    rule: "a schedule is a cron expression",
    edits: [
      {
        file: "core/admission/budgets.ts",
        find: "const cron = parseCron(schedule);",
        replace: 'const cron = parseCron(schedule) ?? parseCron("@daily");',
      },
    ],
    foundBy: "unit",
    within: POOL,
  },
  {
    name: "duration",
    rule: "a duration is one that Go can hold",
    edits: [{ file: "core/admission/durations.ts", find: "parseDurationOrNever(text) !== undefined", replace: "WRITTEN.test(text)" }],
    foundBy: "unit",
    within: POOL,
  },
  {
    name: "labels-count",
    rule: "labels count among the hundred requirements of a NodeClaim",
    edits: [
      {
        file: "core/node-pool/validate.ts",
        find: "Object.keys(metadata?.labels ?? {}).length + template.requirements.length",
        replace: "template.requirements.length",
      },
    ],
    foundBy: "unit",
    within: POOL,
  },
  {
    name: "gate",
    rule: "a static NodePool gets a warning while its feature gate is off",
    edits: [
      {
        file: "core/admission/node-pool.ts",
        find: "isStatic(pool) && !gates.StaticCapacity",
        replace: "isStatic(pool) && gates.StaticCapacity",
      },
    ],
    foundBy: "unit",
    within: ANSWERS,
  },
  {
    name: "term-order",
    rule: "of two fields that stand alone in a term, id decides",
    edits: [{ file: "core/admission/selector-terms.ts", find: 'subnetSelectorTerms: ["id"]', replace: 'subnetSelectorTerms: ["tags"]' }],
    foundBy: "unit",
    within: CLASS,
  },
  {
    name: "user-data-bytes",
    rule: "EC2 counts bytes of user data, not letters",
    edits: [{ file: "core/admission/user-data.ts", find: "const bytes = utf8Length(text);", replace: "const bytes = text.length;" }],
    foundBy: "unit",
    within: CLASS,
  },
  {
    name: "null-default",
    rule: "null counts as absent",
    edits: [
      {
        file: "core/admission/defaults.ts",
        find: "fields[key] === undefined || fields[key] === null",
        replace: "fields[key] === undefined",
      },
    ],
    foundBy: "unit",
    within: DEFAULTS,
  },
  {
    name: "pointer",
    rule: "a slash in a key is escaped in a patch",
    edits: [{ file: "core/admission/json-patch.ts", find: '.replaceAll("/", "~1")', replace: "" }],
    foundBy: "unit",
    within: DEFAULTS,
  },
  {
    name: "token",
    rule: "a request without the token is refused",
    edits: [{ file: "functions/admission/admit.ts", find: " || !(await isToken(given, cluster)))", replace: ")" }],
    foundBy: "unit",
    within: ANSWERS,
  },
  {
    name: "whole-conversion",
    rule: "a conversion fails as a whole",
    edits: [
      {
        file: "functions/admission/convert-all.ts",
        find: 'if ("error" in converted) return { result: { status: "Failure", message: converted.error } };',
        replace: 'if ("error" in converted) continue;',
      },
    ],
    foundBy: "unit",
    within: ANSWERS,
  },
  {
    name: "no-converter",
    rule: "without a converter there is no v1beta1",
    edits: [{ file: "infra/manifests.ts", find: "return admission === undefined", replace: "return false" }],
    foundBy: "unit",
    within: MANIFESTS,
  },
];
