import { expect, it } from "vitest";
import { functionAt, longFiles, problems } from "./bounds.ts";

it.for([
  ["export async function launch(a: string): Promise<void> {", "launch"],
  ["const decide = (a: A): B => {", "decide"],
  ["  async #read(key: string): Promise<void> {", "#read"],
  ["  covered(", "covered"],
  ["export function* steps<T>(", "steps"],
] as const)("a function is named by its line: %s", ([line, name]) => {
  expect(functionAt(line)).toBe(name);
});

it("a place over a bound is a fault unless it is listed, and a listed place that keeps the bound leaves the list", () => {
  expect(problems({ lines: ["a.ts: f"] }, { lines: ["a.ts: f"] })).toEqual([]);
  expect(problems({ lines: ["a.ts: f", "a.ts: g"] }, { lines: ["a.ts: f"] })).toHaveLength(1);
  expect(problems({}, { lines: ["a.ts: f"] })).toHaveLength(1);
});

it("a file of more than 300 lines is long", () => {
  expect(
    longFiles(
      new Map([
        ["a.ts", "x\n".repeat(301)],
        ["b.ts", "x\n".repeat(300)],
      ]),
    ),
  ).toEqual(["a.ts"]);
});
