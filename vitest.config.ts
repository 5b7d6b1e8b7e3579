import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { configDefaults, defineConfig } from "vitest/config";
import "./terminal/check-node.mjs";

/**
 * What setup.ts cannot put back after a test file: mocks of SDK clients, fast-check's defaults, modules and time of
 * vitest's own making.
 */
const CHANGES_ITS_PROCESS = /\b(?:mockClient|configureGlobal|vi\.(?:mock|doMock|useFakeTimers))\(/;

const TESTS = join(import.meta.dirname, "test");
const alone = readdirSync(TESTS, { recursive: true, encoding: "utf8" })
  .filter((file) => file.endsWith(".test.ts") && CHANGES_ITS_PROCESS.test(readFileSync(join(TESTS, file), "utf8")))
  .map((file) => `test/${file}`);

const elsewhere = [...configDefaults.exclude, "test/e2e/**"];

export default defineConfig({
  test: {
    testTimeout: 20_000,
    pool: "threads",
    setupFiles: ["test/support/setup.ts"],
    // Children start in half the time when Node finds their code compiled; it checks each file's content itself.
    env: { NODE_COMPILE_CACHE: join(import.meta.dirname, "node_modules/.cache/node-compile") },
    projects: [
      {
        extends: true,
        // Reading the SDKs, the CDK and our own modules anew for each of some 220 files is half of all work: a worker
        // reads them once.
        test: { name: "shared", include: ["test/**/*.test.ts"], exclude: [...elsewhere, ...alone], isolate: false },
      },
      {
        extends: true,
        // After the others, since a worker is not kept across a file that wants its own.
        test: { name: "alone", include: alone, exclude: elsewhere, isolate: true, sequence: { groupOrder: 1 } },
      },
    ],
  },
});
