import { describe, expect, it } from "vitest";
import { bundle, functionNames } from "#infra/build.ts";
import { functionsToBundle } from "../support/effort.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const outDir = temporaryFolder("bundles");

describe("bundles", () => {
  it.for(functionsToBundle(functionNames()))("%s loads in a fresh process and is within its budget", { timeout: 60_000 }, async (name) => {
    const { faults, importMs } = await bundle(name, outDir);
    expect(faults).toEqual([]);
    expect(importMs).toBeGreaterThan(0);
  });

  it("every folder with a handler is a function, and no other", () => {
    for (const name of ["adapters", "shared", "wiring"]) {
      expect(functionNames()).not.toContain(name);
    }
  });
});
