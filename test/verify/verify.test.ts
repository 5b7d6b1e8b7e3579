import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { BENCHES, PLANS } from "./benches.ts";
import { choose, help } from "./choose.ts";
import { CHECKS } from "./list.ts";
import { programsOf } from "./program.ts";
import { readme } from "./readme.ts";

const ROOT = join(import.meta.dirname, "../..");
const programs = [...programsOf(CHECKS), ...programsOf(BENCHES)];

describe("the lists of programs", () => {
  it("each program's file exists, and no name stands twice in a list", () => {
    expect(programs.filter(({ file }) => !existsSync(join(ROOT, file)))).toEqual([]);
    for (const groups of [CHECKS, BENCHES]) {
      const names = programsOf(groups).map(({ name }) => name);
      expect(new Set(names).size).toBe(names.length);
    }
  });

  it("test/README.md is made from them", async () => {
    await expect(readme()).toMatchFileSnapshot("../README.md");
  });

  it("--help prints each program", () => {
    const text = help("npm run verify", CHECKS, 100);
    for (const { name } of programsOf(CHECKS)) expect(text).toContain(`\n  ${name} `);
  });

  it(".ci/run starts programs by names of the list", () => {
    const script = readFileSync(join(ROOT, ".ci/run"), "utf8");
    const started = [...script.matchAll(/^ *check "[^"]+" ([\w-]+)|test\/verify\/main\.ts ([\w-]+)/gm)].map(([, a, b]) => a ?? b);
    const names = programsOf(CHECKS).map(({ name }) => name);
    expect(started.length).toBeGreaterThan(20);
    expect(started.filter((name) => !names.includes(String(name)))).toEqual([]);
  });
});

const named = (given: string, groups = CHECKS, fallback?: string): string => {
  const choice = choose(groups, given.split(" ").filter(Boolean), fallback);
  if (choice.kind === "run") return [choice.program.name, ...choice.args].join(" ");
  return choice.kind === "wrong" ? choice.message : "help";
};

describe("npm run verify", () => {
  it.for([
    ["simulation", "simulation --seed 1 --runs 100"],
    ["simulation --seed 7", "simulation --seed 7"],
    ["simulation -- --seed 7", "simulation --seed 7"],
    ["e2e drain -- deadline", "e2e drain -- deadline"],
    ["--help", "help"],
    ["", "Name what to run; --help lists it."],
    ["confromance", 'There is no "confromance"; did you mean conformance?'],
    ["dinner", 'There is no "dinner"; --help lists what there is.'],
  ])("%s", ([given = "", want]) => {
    expect(named(given)).toBe(want);
  });
});

describe("npm run bench", () => {
  it.for([
    ["", "plans"],
    ["deployments --sizes 10", "plans deployments --sizes 10"],
    ["--oracle alike", "plans --oracle alike"],
    ["optimum --count 3", "optimum --count 3"],
    ["optimun", 'There is no "optimun"; did you mean optimum?'],
  ])("%s", ([given = "", want]) => {
    expect(named(given, BENCHES, PLANS)).toBe(want);
  });
});
