import fc from "fast-check";
import { expect, it } from "vitest";
import { parse } from "yaml";
import { parseMime, renderMime } from "#core/launch/mime.ts";
import { parseToml, renderToml, type TomlTable } from "#core/launch/toml.ts";
import { toYaml, type YamlValue } from "#core/launch/yaml.ts";

const text = fc.oneof(
  fc.string({ maxLength: 12 }),
  fc.constantFrom("true", "no", "1e3", "0x1", "a: b", "- a", "#", "~", "null", "2026-01-01", "a\nb", "", " x "),
);
const key = text.filter((name) => name !== "__proto__" && name !== "<<");

const json: fc.Arbitrary<YamlValue> = fc.letrec<{ value: YamlValue }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    text,
    fc.integer(),
    fc.boolean(),
    fc.array(tie("value"), { maxLength: 3 }),
    fc.dictionary(key, tie("value"), { maxKeys: 3, noNullPrototype: true }),
  ),
})).value;

it("rendered YAML parses to the same value by the rules of YAML 1.1 and 1.2", () => {
  fc.assert(
    fc.property(fc.dictionary(key, json, { minKeys: 1, maxKeys: 3, noNullPrototype: true }), (value) => {
      expect(parse(toYaml(value))).toEqual(value);
      expect(parse(toYaml(value), { version: "1.1" })).toEqual(value);
    }),
    { numRuns: 300 },
  );
});

const toml: fc.Arbitrary<TomlTable> = fc.letrec<{ table: TomlTable }>((tie) => ({
  table: fc.dictionary(
    fc.string({ maxLength: 6 }).filter((name) => name !== "__proto__"),
    fc.oneof(
      { maxDepth: 3 },
      fc.string({ maxLength: 8, unit: "binary" }),
      fc.boolean(),
      fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
      fc.double(),
      fc.array(fc.string({ maxLength: 4 }), { maxLength: 3 }),
      tie("table"),
    ),
    { maxKeys: 3, noNullPrototype: true },
  ),
})).table;

it("rendered TOML parses to the same document", () => {
  fc.assert(
    fc.property(toml, (value) => {
      expect(parseToml(renderToml(value))).toEqual(value);
    }),
    { numRuns: 300, examples: [[{ "": -0 }]] },
  );
});

it("rendered MIME parses to the same parts, whatever their lines", () => {
  const line = fc.string({ maxLength: 10 }).filter((l) => !l.startsWith("--//") && !/[\r\n]/.test(l));
  const part = fc.record({
    contentType: fc.constantFrom("text/x-shellscript", "text/cloud-config; charset=utf-8"),
    headers: fc.subarray(["MIME-Version: 1.0", "Content-Transfer-Encoding: 7bit"]),
    body: fc.array(line, { maxLength: 4 }).map((lines) => lines.join("\n").replace(/\n+$/, "")),
  });
  fc.assert(
    fc.property(fc.array(part, { maxLength: 3 }), (parts) => {
      expect(parseMime(renderMime(parts))).toEqual(parts);
    }),
  );
});
