import { enableCompileCache } from "node:module";
import fc from "fast-check";
import { afterAll, beforeEach, type RunnerTestSuite, vi } from "vitest";
import { isLeftToFull, unknownOf } from "./effort.ts";
import { removeTemporaryFolders } from "./temporary-folder.ts";

// Each worker loads our modules, the SDKs and the CDK: in half the CPU time where Node finds them compiled.
enableCompileCache(process.env["NODE_COMPILE_CACHE"]);

// The same commit passes or fails on each machine. Another seed draws other values (test/README.md).
const { PROPERTY_SEED = "1" } = process.env;
fc.configureGlobal({ seed: Number(PROPERTY_SEED) });

// Test files share a process (vitest.config.ts): what one file sets or stubs is restored before the next file.
const environment = { ...process.env };

const namesIn = ({ tasks }: Pick<RunnerTestSuite, "tasks">): readonly string[] =>
  tasks.flatMap((task) => (task.type === "suite" ? namesIn(task) : [task.fullTestName]));

beforeEach(({ task, skip }) => {
  const { filepath, name } = task.file;
  const [unknown] = unknownOf(filepath, () => namesIn(task.file));
  if (unknown !== undefined) throw new Error(`${name} has no test "${unknown}"; correct LEFT_TO_FULL in test/support/effort.ts`);
  if (isLeftToFull(filepath, task.fullTestName)) skip();
});

afterAll(() => {
  removeTemporaryFolders();
  vi.unstubAllEnvs();
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
  for (const name of Object.keys(process.env)) if (!(name in environment)) delete process.env[name];
  Object.assign(process.env, environment);
});
