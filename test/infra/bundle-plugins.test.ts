import { build } from "esbuild";
import { describe, expect, it } from "vitest";
import { leanAwsSchemas, literalKeys } from "#infra/bundle-plugins.ts";

describe("literalKeys", () => {
  it.for([
    {
      name: "a constant of the file",
      source: 'const _a = "A b";\nvar x = { [_a]: 1, [_a]: 2 };',
      want: 'const _a = "A b";\nvar x = { "A b": 1, "A b": 2 };',
    },
    { name: "a name that comes from elsewhere stays", source: "var x = { [_a]: 1 };", want: "var x = { [_a]: 1 };" },
    { name: "an index is no key", source: 'const _a = "A";\nvar x = y[_a];', want: 'const _a = "A";\nvar x = y[_a];' },
    { name: "a conditional is no key", source: 'const _a = "A";\nvar x = y ? [_a]: z;', want: 'const _a = "A";\nvar x = y ? [_a]: z;' },
  ])("$name", ({ source, want }) => {
    expect(literalKeys(source)).toBe(want);
  });
});

describe("EC2's client in a bundle", () => {
  const bytes = async (plugins: readonly (typeof leanAwsSchemas)[]): Promise<number> => {
    const { outputFiles } = await build({
      stdin: { contents: 'export { CreateFleetCommand } from "@aws-sdk/client-ec2";', resolveDir: import.meta.dirname },
      ...{ bundle: true, minify: true, write: false, platform: "node", format: "esm", mainFields: ["module", "main"] },
      plugins: [...plugins],
    });
    return outputFiles[0]?.contents.length ?? 0;
  };

  it("EC2's client in a bundle has the schemas that are used and few others", { timeout: 60_000 }, async () => {
    expect(await bytes([leanAwsSchemas])).toBeLessThan((await bytes([])) / 2);
  });
});
