import type { Mutation } from "../mutation.ts";

const POOL = ["test/core/admission/node-pool.test.ts"];
const CLASS = ["test/core/admission/node-class.test.ts"];
const DEFAULTS = ["test/core/admission/defaults.test.ts"];
const ANSWERS = ["test/functions/admission/admit.test.ts"];
const MANIFESTS = ["test/infra/manifests.test.ts"];

/** Rules of admission, each broken in the place that keeps it. */
export const MUTATIONS: readonly Mutation[] = [
  {
    name: "old-fault",
    rule: "a problem that an object had before does not refuse an update",
    file: "core/admission/verdict.ts",
    from: "const known = new Set(before?.problems);",
    to: "const known = new Set<string>();",
    tests: POOL,
  },
  {
    name: "new-fault",
    rule: "an update adds no problem",
    file: "core/admission/verdict.ts",
    from: "filter((problem) => !known.has(problem))",
    to: "filter((problem) => before === undefined && !known.has(problem))",
    tests: POOL,
  },
  {
    name: "cron",
    rule: "a schedule is a cron expression",
    file: "core/admission/budgets.ts",
    from: "const cron = parseCron(schedule);",
    to: 'const cron = parseCron(schedule) ?? parseCron("@daily");',
    tests: POOL,
  },
  {
    name: "duration",
    rule: "a duration is one that Go can hold",
    file: "core/admission/durations.ts",
    from: "parseDurationOrNever(text) !== undefined",
    to: "WRITTEN.test(text)",
    tests: POOL,
  },
  {
    name: "labels-count",
    rule: "labels count among the hundred requirements of a NodeClaim",
    file: "core/node-pool/validate.ts",
    from: "Object.keys(metadata?.labels ?? {}).length + template.requirements.length",
    to: "template.requirements.length",
    tests: POOL,
  },
  {
    name: "gate",
    rule: "a static NodePool gets a warning while its feature gate is off",
    file: "core/admission/node-pool.ts",
    from: "isStatic(pool) && !gates.StaticCapacity",
    to: "isStatic(pool) && gates.StaticCapacity",
    tests: ANSWERS,
  },
  {
    name: "term-order",
    rule: "of two fields that stand alone in a term, id decides",
    file: "core/admission/selector-terms.ts",
    from: 'subnetSelectorTerms: ["id"]',
    to: 'subnetSelectorTerms: ["tags"]',
    tests: CLASS,
  },
  {
    name: "user-data-bytes",
    rule: "EC2 counts bytes of user data, not letters",
    file: "core/admission/user-data.ts",
    from: "const bytes = utf8Length(text);",
    to: "const bytes = text.length;",
    tests: CLASS,
  },
  {
    name: "null-default",
    rule: "null counts as absent",
    file: "core/admission/defaults.ts",
    from: "fields[key] === undefined || fields[key] === null",
    to: "fields[key] === undefined",
    tests: DEFAULTS,
  },
  {
    name: "pointer",
    rule: "a slash in a key is escaped in a patch",
    file: "core/admission/json-patch.ts",
    from: '.replaceAll("/", "~1")',
    to: "",
    tests: DEFAULTS,
  },
  {
    name: "token",
    rule: "a request without the token is refused",
    file: "functions/admission/admit.ts",
    from: " || !(await isToken(given, cluster)))",
    to: ")",
    tests: ANSWERS,
  },
  {
    name: "whole-conversion",
    rule: "a conversion fails as a whole",
    file: "functions/admission/convert-all.ts",
    from: 'if ("error" in converted) return { result: { status: "Failure", message: converted.error } };',
    to: 'if ("error" in converted) continue;',
    tests: ANSWERS,
  },
  {
    name: "no-converter",
    rule: "without a converter there is no v1beta1",
    file: "infra/manifests.ts",
    from: "return admission === undefined",
    to: "return false",
    tests: MANIFESTS,
  },
];
