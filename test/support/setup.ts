import { afterAll, vi } from "vitest";

// Test files share a process (vitest.config.ts): what one file sets or stubs is restored before the next file.
const environment = { ...process.env };

afterAll(() => {
  vi.unstubAllEnvs();
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
  for (const name of Object.keys(process.env)) if (!(name in environment)) delete process.env[name];
  Object.assign(process.env, environment);
});
