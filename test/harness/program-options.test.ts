import { parseArgs } from "node:util";
import { expect, it } from "vitest";
import { parsedOrEnding } from "../support/program-options.ts";

const parse = (args: readonly string[]) =>
  parseArgs({ args: [...args], allowPositionals: true, options: { runs: { type: "string", default: "3" } } });
const USAGE = "usage: compare [FOLDER] [--runs N]";

it("--help is answered with the usage, whatever else is given", () => {
  expect(parsedOrEnding(["folder", "--no-such", "--help"], USAGE, parse)).toEqual({ text: USAGE, exitCode: 0 });
});

it("an unknown option is one sentence and the usage, without a stack trace", () => {
  const ending = parsedOrEnding(["--no-such"], USAGE, parse);
  expect(ending).toMatchObject({ exitCode: 2, text: expect.stringMatching(/^Unknown option '--no-such'[^\n]*\nusage: compare/) });
  expect(ending).not.toMatchObject({ text: expect.stringContaining("    at ") });
});

it("arguments that the options allow are returned with their defaults", () => {
  expect(parsedOrEnding(["folder"], USAGE, parse)).toMatchObject({ parsed: { values: { runs: "3" }, positionals: ["folder"] } });
});
