import fc from "fast-check";
import { afterAll, vi } from "vitest";
import { removeTemporaryFolders } from "./temporary-folder.ts";

// The same commit passes or fails on each machine. Another seed draws other values (test/README.md).
const { PROPERTY_SEED = "1" } = process.env;
fc.configureGlobal({ seed: Number(PROPERTY_SEED) });

// Test files share a process (vitest.config.ts): what one file sets or stubs is restored before the next file.
const environment = { ...process.env };

afterAll(() => {
  removeTemporaryFolders();
  vi.unstubAllEnvs();
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
  for (const name of Object.keys(process.env)) if (!(name in environment)) delete process.env[name];
  Object.assign(process.env, environment);
});
