import { join } from "node:path";
import { defineConfig } from "vitest/config";
import "./terminal/check-node.mjs";
import { kindsOfTests } from "./test/support/kinds-of-tests.ts";

const { unit, shared, alone } = kindsOfTests();

/** What all projects share. A project that `extends` the root would make Vitest read this file again. */
const common = {
  pool: "threads" as const,
  // Ends what hangs. A busy machine takes ten times as long as a quiet one.
  testTimeout: 120_000,
  setupFiles: ["test/support/setup.ts"],
  env: {
    // Children start in half the time when Node finds their code compiled; it checks each file's content itself.
    NODE_COMPILE_CACHE: join(import.meta.dirname, "node_modules/.cache/node-compile"),
    // The CDK's own rules only warn, after 5 s of preparation. `npm run synth` has them, and cdk-nag runs here too.
    CDK_VALIDATION: "false",
  },
};

/**
 * Node runs the sources as they are. Vite's module runner would transform each file, and would read each imported name
 * through an object.
 */
const native = { ...common, isolate: false, experimental: { viteModuleRunner: false, nodeLoader: false } };

export default defineConfig({
  test: {
    // Vitest's default leaves one core free, which is half of a small machine.
    maxWorkers: "100%",
    // One after the other, since a worker ends where the next file is another project's.
    projects: [
      // A worker of these two reads the SDKs, the CDK and our own modules once for all its files.
      { test: { ...native, name: "shared", include: [...shared], sequence: { groupOrder: 0 } } },
      { test: { ...native, name: "unit", include: [...unit], sequence: { groupOrder: 1 } } },
      { test: { ...common, name: "alone", include: [...alone], isolate: true, sequence: { groupOrder: 2 } } },
    ],
  },
});
