import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { fromKarpenterPage, PAGE, productTree } from "./from-karpenter.ts";
import { planted } from "./source-tree.ts";

const tree = productTree();

it("docs/from-karpenter.md is what `node test/architecture/write-from-karpenter.ts` writes now", () => {
  expect(readFileSync(PAGE, "utf8")).toBe(fromKarpenterPage(tree));
});

it("a citation of a comment becomes a row of its file", () => {
  const page = fromKarpenterPage(planted(tree, { "core/x.ts": "// As upstream (karpenter: pkg/a/b.go, Controller.Reconcile).\n" }));
  expect(page).toContain("| `a/b.go` | `Controller.Reconcile` → `core/x.ts` |");
});

it("a name of the head table that two files export is reported with both", () => {
  expect(() => fromKarpenterPage(planted(tree, { "core/x.ts": "export function planDisruption(): void {}\n" }))).toThrow(
    "is exported by core/disruption/plan.ts and core/x.ts",
  );
});
