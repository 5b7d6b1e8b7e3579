import { expect, it } from "vitest";
import { hasColour } from "#lab/lab.ts";

it.for([
  { name: "on a terminal", stream: { isTTY: true }, env: {}, want: true },
  { name: "in a pipe", stream: {}, env: {}, want: false },
  { name: "on a terminal with NO_COLOR", stream: { isTTY: true }, env: { NO_COLOR: "1" }, want: false },
  { name: "on a terminal with an empty NO_COLOR", stream: { isTTY: true }, env: { NO_COLOR: "" }, want: true },
])("the lab has colours $name: $want", ({ stream, env, want }) => {
  expect(hasColour(stream, env)).toBe(want);
});
