import fc from "fast-check";
import { expect, it } from "vitest";
import { perHour } from "#core/disruption/prices/money.ts";
import { fitted, labelled, WIDTH, widthOf, wrapped } from "#terminal/columns.ts";

it("wrapped text breaks between words, keeps every word, and stays within the width", () => {
  const word = fc.stringMatching(/^[a-z/.=-]{1,30}$/);
  fc.assert(
    fc.property(fc.array(word, { minLength: 1, maxLength: 60 }), fc.integer({ min: 0, max: 20 }), (words, indent) => {
      const lines = wrapped(words.join(" "), indent);
      expect(lines.flatMap((line) => line.trim().split(" "))).toEqual(words);
      for (const line of lines) {
        expect(line.length).toBeLessThanOrEqual(WIDTH);
        expect(line.startsWith(" ".repeat(indent))).toBe(true);
      }
    }),
    { seed: 20_261_121 },
  );
});

it("a word that is longer than a line gets a line of its own", () => {
  const long = "x".repeat(WIDTH + 1);
  expect(wrapped(`a ${long} b`)).toEqual(["a", long, "b"]);
});

it("labelled text stands beside its label", () => {
  const lines = labelled("room", "word ".repeat(40).trim(), 4);
  expect(lines[0]).toMatch(/^ {4}room {3}word/);
  expect(lines[1]).toMatch(/^ {11}word/);
  expect(labelled("", "more", 4)).toEqual(["           more"]);
});

it.for([
  { price: 0.00462, text: "$0.0046/h" },
  { price: 12.5, text: "$12.5000/h" },
  { price: 1150.09, text: "$1150.09/h" },
])("the price $price is shown as $text", ({ price, text }) => {
  expect(perHour(price)).toBe(text);
});

it.for([
  { name: "a pipe", stream: {}, want: 100 },
  { name: "a file, though COLUMNS is known", stream: { isTTY: false, columns: 200 }, want: 100 },
  { name: "a terminal of 80 columns", stream: { isTTY: true, columns: 80 }, want: 80 },
  { name: "a terminal of 40 columns", stream: { isTTY: true, columns: 40 }, want: 60 },
  { name: "a terminal of 300 columns", stream: { isTTY: true, columns: 300 }, want: 140 },
])("lines on $name are $want wide", ({ stream, want }) => {
  expect(widthOf(stream)).toBe(want);
});

it("what is too long for the terminal goes on under its own column, and a long word is indented less", () => {
  const help = `  --set FIELD=VALUE  one field, as in ${"x".repeat(35)} (several times)\n  --json  short`;
  expect(fitted(help, 50).split("\n")).toEqual([
    "  --set FIELD=VALUE  one field, as in",
    `${" ".repeat(15)}${"x".repeat(35)}`,
    "                     (several times)",
    "  --json  short",
  ]);
  expect(fitted(`  --set FIELD=VALUE  ${"y".repeat(40)}`, 50).split("\n")).toEqual([
    "  --set FIELD=VALUE",
    `${" ".repeat(10)}${"y".repeat(40)}`,
  ]);
});

it("fitted text has no line that is wider than the terminal, and keeps every word", () => {
  const word = fc.stringMatching(/^[a-z/.=-]{1,30}$/);
  const line = fc.tuple(fc.integer({ min: 0, max: 25 }), word, fc.array(word, { maxLength: 30 }));
  fc.assert(
    fc.property(fc.array(line, { minLength: 1, maxLength: 5 }), (lines) => {
      const text = lines.map(([indent, term, words]) => `${" ".repeat(indent)}${term}  ${words.join(" ")}`.trimEnd()).join("\n");
      const shown = fitted(text, 60);
      for (const one of shown.split("\n")) expect(one.length).toBeLessThanOrEqual(60);
      expect(shown.split(/\s+/)).toEqual(text.split(/\s+/));
    }),
    { seed: 20_261_125 },
  );
});
