import { expect, it } from "vitest";
import { deadExports } from "./dead-exports.ts";

const dead = (files: Readonly<Record<string, string>>): readonly string[] => deadExports(new Map(Object.entries(files)), () => true);

it("an exported name is dead unless another file imports it by name, as a whole, or at run time", () => {
  const a = "export const used = 1;\nexport type Unused = 2;\nexport function own() {}\nown();\n";
  expect(dead({ "core/a.ts": a, "lab/b.ts": 'import { used } from "#core/a.ts";\n' })).toEqual(["core/a.ts: Unused", "core/a.ts: own"]);
  expect(dead({ "core/a.ts": a, "core/b.ts": 'import * as all from "./a.ts";\n' })).toEqual([]);
  expect(dead({ "core/a.ts": a, "core/b.ts": 'const all = await import("./a.ts");\n' })).toEqual([]);
});

it("an import over several lines, of types, or under another name counts", () => {
  const a = "export const one = 1;\nexport interface Two {}\n";
  expect(dead({ "a/a.ts": a, "a/b.ts": 'import {\n  one as first,\n  type Two,\n} from "./a.ts";\n' })).toEqual([]);
});
