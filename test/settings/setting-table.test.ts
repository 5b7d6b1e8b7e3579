import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, expectTypeOf, it } from "vitest";
import { DEFAULT_SETTINGS } from "#functions/wiring/settings.ts";
import { DEFAULT_GATES, type Gate, SETTINGS, type Settings, type WiringSettings } from "#settings/setting-table.ts";

const ROOT = join(import.meta.dirname, "../..");
const source = globSync("{core,functions}/**/*.ts", { cwd: ROOT })
  .filter((file) => file !== "settings/setting-table.ts")
  .map((file) => readFileSync(join(ROOT, file), "utf8"))
  .join("\n");
const inCode = (name: string): boolean => new RegExp(`\\b${name}\\b`).test(source);
const camelCase = (gate: string): string => gate.charAt(0).toLowerCase() + gate.slice(1);

describe("the table of settings", () => {
  it("gives decisions exactly the rows that decisions read, and the gates", () => {
    const rows = Object.values(SETTINGS).filter(({ readBy }) => readBy === "decisions");
    const names = [...rows.map((row) => row.as), ...Object.keys(DEFAULT_GATES).map(camelCase)];
    expect(Object.keys(DEFAULT_SETTINGS).toSorted()).toEqual(names.toSorted());
  });

  it("names each value once", () => {
    const names = [...Object.values(SETTINGS).map((row) => row.as), ...Object.keys(DEFAULT_GATES).map(camelCase)];
    expect(new Set(names).size).toBe(names.length);
  });

  it.for(Object.values(SETTINGS))("has no row that no code reads: $as", (row) => {
    expect(inCode(row.as)).toBe(true);
  });

  it.for(Object.keys(DEFAULT_GATES))("has no gate that no code reads: %s", (gate) => {
    expect(inCode(camelCase(gate))).toBe(true);
  });

  it("has the types of what its readers read", () => {
    expectTypeOf<Settings["preferencePolicy"]>().toEqualTypeOf<"Respect" | "Ignore" | "Weigh">();
    expectTypeOf<Settings["horizonMs"]>().toEqualTypeOf<number | undefined>();
    expectTypeOf<Settings["spotToSpotConsolidation"]>().toEqualTypeOf<boolean>();
    expectTypeOf<WiringSettings["featureGates"]>().toEqualTypeOf<Readonly<Record<Gate, boolean>>>();
    expectTypeOf<Settings>().not.toHaveProperty("logLevel");
  });
});
