import { describe, expect, it } from "vitest";
import { FUNCTION_NAMES, FUNCTIONS } from "#infra/functions.ts";
import { importPairs, planted, readTree, type SourceTree } from "../architecture/source-tree.ts";

const SOURCES = readTree(["adapters", "functions"]);

/** The functions whose code, without adapters, finds records by their instance: the table's index byInstance. */
function finders(tree: SourceTree): readonly string[] {
  const imported = Map.groupBy(importPairs(tree), ([from]) => from);
  const reaches = (file: string, seen: Set<string>): boolean => {
    if (seen.has(file) || file.startsWith("adapters/")) return false;
    seen.add(file);
    return (tree.get(file) ?? "").includes(".byInstance(") || (imported.get(file) ?? []).some(([, to]) => reaches(to, seen));
  };
  return FUNCTION_NAMES.filter((name) =>
    [...tree.keys()].some((file) => file.startsWith(`functions/${name}/`) && reaches(file, new Set())),
  );
}

describe("rights to the table", () => {
  it("a function may query the index of instances exactly when its code does", () => {
    expect(FUNCTION_NAMES.filter((name) => FUNCTIONS[name].store.includes("find"))).toEqual(finders(SOURCES));
  });

  it("a function that begins to find records through what it shares with others is noticed", () => {
    const importing = 'import { recordByProviderId } from "../shared/claims-by-provider-id.ts";\n';
    expect(finders(planted(SOURCES, { "functions/catalog/x.ts": importing }))).toContain("catalog");
  });
});
