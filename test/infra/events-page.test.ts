import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { readTree } from "../architecture/source-tree.ts";

const PAGE = readFileSync("docs/metrics-and-events.md", "utf8");
const part = (from: string, to: string): string => PAGE.slice(PAGE.indexOf(`\n## ${from}\n`), PAGE.indexOf(`\n## ${to}\n`));
const EVENTS = part("Events", "Conditions of our own");
const LINES = PAGE.slice(PAGE.indexOf("\n## Log lines\n"));
const SOURCE = [...readTree(["adapters", "core", "functions"]).values()].join("\n");

/** Reasons of the table of events; the row of conditions names examples of types. */
const documented = [...EVENTS.matchAll(/^\| (`.+?`) \| (?:Normal|Warning) \|/gm)].flatMap(([, cell = ""]) =>
  [...cell.matchAll(/`(\w+)`/g)].map(([, reason = ""]) => reason),
);

it("each event that code publishes has a row, and each row an event", () => {
  const literal = [...SOURCE.matchAll(/type: "(?:Normal|Warning)"(?: as const)?,\s+reason: "(\w+)"/g)].map(([, reason = ""]) => reason);
  const constants = [...SOURCE.matchAll(/type: "(?:Normal|Warning)"(?: as const)?,\s+reason: ([A-Z_]+)\b/g)].map(
    ([, name = ""]) => new RegExp(`${name} = "(\\w+)"`).exec(SOURCE)?.[1] ?? name,
  );
  expect(literal.length).toBeGreaterThan(15);
  expect([...new Set([...literal, ...constants])].filter((reason) => !documented.includes(reason))).toEqual([]);
  expect(documented.length).toBeGreaterThan(40);
  expect(documented.filter((reason) => !SOURCE.includes(`"${reason}"`))).toEqual([]);
});

it("each log line of the page is one that code writes", () => {
  const texts = [...LINES.matchAll(/^\| (`.+?`(?:, `.+?`)*) \| (?:info|debug|error) \|/gm)].flatMap(([, cell = ""]) =>
    [...cell.matchAll(/`([^`]+)`/g)].map(([, text = ""]) => text),
  );
  expect(texts.length).toBeGreaterThan(25);
  // What is filled in begins with a capital letter, a number or an ellipsis.
  const fixed = texts.map((text) =>
    (/^[^A-Z0-9…]+/.exec(text)?.[0] ?? text)
      .trim()
      .replace(/ via .*$/, "")
      .replace(/,$/, ""),
  );
  expect(fixed.filter((text) => !SOURCE.includes(text))).toEqual([]);
});
