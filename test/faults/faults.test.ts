import { existsSync } from "node:fs";
import { stripTypeScriptTypes } from "node:module";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { edited, sourceOf } from "../support/patched-tree.ts";
import { AREAS, faultsOf } from "./list.ts";

const ROOT = join(import.meta.dirname, "../..");

describe("an edit", () => {
  it.for([
    { text: "if (a < b) return;", find: "a < b", replace: "a <= b", want: "if (a <= b) return;" },
    { text: "cost(1)", find: "1", replace: "$&$&", want: "cost($&$&)" },
  ])("changes $text", ({ text, want, ...edit }) => {
    expect(edited(text, [{ file: "x.ts", ...edit }])).toBe(want);
  });

  it.for([
    { text: "a + a", times: 2 },
    { text: "b", times: 0 },
  ])("is refused where its text stands $times times", ({ text, times }) => {
    expect(() => edited(text, [{ file: "x.ts", find: "a", replace: "c" }])).toThrow(`stands there ${times} times, not once`);
  });
});

/** Between two runs of test/faults/run.ts this test shows a fault whose text has left the code. */
describe.for(AREAS)("areas/%s", (area) => {
  it("each fault quotes a text that stands once in the code and leaves code that parses, and its tests exist", async () => {
    const faults = await faultsOf(area);
    expect(new Set(faults.map(({ name }) => name)).size).toBe(faults.length);
    for (const { name, edits, ...fault } of faults) {
      expect(edits.length, name).toBeGreaterThan(0);
      for (const [file, own] of Map.groupBy(edits, (edit) => edit.file)) {
        const broken = edited(sourceOf(file), own);
        expect(broken, name).not.toBe(sourceOf(file));
        expect(() => stripTypeScriptTypes(broken, { mode: "strip" }), `${name}: the broken ${file}`).not.toThrow();
      }
      for (const test of fault.foundBy === "unit" ? fault.within : []) expect(existsSync(join(ROOT, test)), `${name}: ${test}`).toBe(true);
    }
  });
});
