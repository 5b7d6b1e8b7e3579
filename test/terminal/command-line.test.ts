import { expect, it } from "vitest";
import { ArgumentError, argumentLines, asksForHelp, oneOf, parseArguments, synopsis, wholeNumber } from "#terminal/command-line.ts";

const TABLE = {
  usage: "play",
  positionals: { name: "FILE", description: "a file", isRequired: false, isList: true },
  options: {
    loud: { type: "flag", description: "more noise" },
    seed: { type: "text", value: "N", description: "a number" },
    scale: { type: "list", value: "NAME=N", description: "several times" },
  },
} as const;

it("flags, texts and lists are read in any order, with = or a blank", () => {
  expect(parseArguments(TABLE, ["a", "--scale", "x=1", "--loud", "--scale=y=2", "--seed=-7", "-"])).toEqual({
    values: { loud: true, seed: "-7", scale: ["x=1", "y=2"] },
    positionals: ["a", "-"],
  });
});

it("options that are not given are false, undefined and empty", () => {
  expect(parseArguments(TABLE, [])).toEqual({ values: { loud: false, seed: undefined, scale: [] }, positionals: [] });
});

it("words after -- are positionals", () => {
  expect(parseArguments(TABLE, ["--", "--loud", "--help"]).positionals).toEqual(["--loud", "--help"]);
  expect(asksForHelp(["--", "--help"])).toBe(false);
});

it.for([
  { args: ["--lout"], says: "there is no option --lout; did you mean --loud?" },
  { args: ["--bogus=1"], says: "there is no option --bogus; see play --help" },
  { args: ["-x"], says: "there is no option -x; see play --help" },
  { args: ["--constructor"], says: "there is no option --constructor; see play --help" },
  { args: ["--seed"], says: "--seed needs a value: --seed N" },
  { args: ["--seed", "--loud"], says: "--seed needs a value, and --loud looks like an option; write --seed=--loud if it is the value" },
  { args: ["--loud=yes"], says: '--loud takes no value, but there is "yes"' },
  { args: ["--seed", "1", "--seed", "2"], says: "--seed is given twice; leave one of them out" },
  { args: ["--loud", "--loud"], says: "--loud is given twice; leave one of them out" },
])("refuses $args in one sentence", ({ args, says }) => {
  expect(() => parseArguments(TABLE, args)).toThrow(new ArgumentError(says));
});

it("refuses a missing positional, a second one, and a missing required option", () => {
  const positionals = { ...TABLE.positionals, isRequired: true, isList: false };
  const options = { cluster: { type: "text", value: "NAME", description: "a cluster", isRequired: true } } as const;
  expect(() => parseArguments({ usage: "play", options }, [])).toThrow("--cluster NAME is missing; see play --help");
  expect(() => parseArguments({ usage: "play", options }, ["a"])).toThrow("a belongs to no option; see play --help");
  expect(() => parseArguments({ ...TABLE, positionals }, [])).toThrow("FILE is missing; see play --help");
  expect(() => parseArguments({ ...TABLE, positionals }, ["a", "b"])).toThrow("one FILE is enough, but there is also b; see play --help");
});

it("numbers and choices are checked by their option's name", () => {
  expect(wholeNumber("7", "--seed")).toBe(7);
  expect(() => wholeNumber("1.5", "--seed")).toThrow('--seed takes a whole number above 0, not "1.5"');
  expect(oneOf("b", ["a", "b"], "--letter")).toBe("b");
  expect(() => oneOf("c", ["a", "b"], "--letter")).toThrow('--letter is one of a, b, not "c"');
});

it("help lists each argument with its description beside it", () => {
  expect(argumentLines(TABLE, 28)).toEqual([
    "  FILE            a file",
    "  --loud          more noise",
    "  --seed N        a number",
    "  --scale NAME=N  several",
    "                  times",
  ]);
  expect(synopsis(TABLE)).toBe("[FILE...] [options]");
});
