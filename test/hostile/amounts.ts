import { execFileSync } from "node:child_process";
import { parseArgs } from "node:util";
import { parseDuration } from "#core/lib/duration.ts";
import { parseInt64 } from "#core/lib/int64.ts";
import { parseQuantity } from "#core/model/quantity.ts";
import { buildCommand } from "../go/build.ts";

/** A text of one kind of amount, and how Kubernetes or Go reads it ("-": it is refused). */
export interface Reading {
  readonly kind: "quantity" | "integer" | "duration";
  readonly text: string;
  readonly want: string;
}

/** Whether the core reads a text as Kubernetes does. A quantity is in thousandths, a duration in nanoseconds. */
export function readsAlike({ kind, text, want }: Reading): boolean {
  const refused = want === "-";
  switch (kind) {
    case "quantity": {
      const ours = quantityOf(text);
      return refused ? ours === undefined : ours === Number(want);
    }
    case "integer":
      return refused ? parseInt64(text) === undefined : parseInt64(text) === BigInt(want);
    case "duration":
      return refused ? parseDuration(text) === undefined : parseDuration(text) === Number(want) / 1e6;
  }
}

function quantityOf(text: string): number | undefined {
  try {
    return parseQuantity(text);
  } catch {
    return undefined;
  }
}

const KINDS = ["quantity", "integer", "duration"] as const;

const ALPHABETS = {
  quantity: ["0", "1", "9", ".", "+", "-", "e", "E", "i", "n", "m", "K", "k", "P"],
  integer: ["0", "1", "9", "+", "-", "_", ".", "x", " "],
  duration: ["0", "1", "9", ".", "+", "-", "n", "µ", "m", "s", "h", "d"],
} as const;

/** Every text over the letters with `length` letters. */
function* textsOf(letters: readonly string[], length: number): Generator<string> {
  if (length === 0) yield "";
  else for (const text of textsOf(letters, length - 1)) for (const letter of letters) yield text + letter;
}

/** Long and large amounts beside those of a few letters. Go needs minutes for many digits with a large exponent. */
function longTexts(kind: Reading["kind"]): readonly string[] {
  const digits = ["1", "9", "10", "15", "999", "123456789", "9007199254740993", "9223372036854775807", "9223372036854775808"];
  const numbers = digits.flatMap((d) => [
    d,
    `-${d}`,
    `+${d}`,
    `000${d}`,
    `${d}.`,
    `.${d}`,
    `${d}.${d}`,
    `0.000000000${d}`,
    `${d}.${"0".repeat(30)}1`,
  ]);
  const long = ["1".repeat(400), `0.${"9".repeat(400)}`, `${"0".repeat(400)}7`, `3.${"0".repeat(400)}`, `1.${"0".repeat(45)}1`];
  if (kind === "integer") return [...numbers, ...long, "-9223372036854775808", "-9223372036854775809"];
  const units = {
    quantity: [
      "",
      ..."numkMGTPE",
      "Ki",
      "Mi",
      "Gi",
      "Ti",
      "Pi",
      "Ei",
      "e3",
      "E-3",
      "e+12",
      "e-9",
      "e-10",
      "e18",
      "e19",
      "e40",
      "i",
      "mi",
      "K",
      "kk",
    ],
    duration: ["ns", "us", "µs", "μs", "ms", "s", "m", "h", "d", "hm", "h1m", "h1.5s"],
  }[kind];
  const exponents = [
    "1e9999",
    "1e2147483647",
    "5e4294967299",
    "1e4294967295",
    "1e9223372036854775807",
    "1e9223372036854775808",
    "1e-0000009",
  ];
  const edges = {
    quantity: exponents,
    duration: ["2562047h", "2562048h", "9223372036854775807ns", "9223372036854775808ns", "-9223372036854775808ns", "9223372036.854775808s"],
  }[kind];
  return [...[...numbers, ...long].flatMap((number) => units.map((unit) => number + unit)), ...edges];
}

/** The readings that are kept as `amounts.golden.json`, so that `npm test` compares without Go. */
function keptTexts(kind: Reading["kind"]): readonly string[] {
  const short = [0, 1, 2].flatMap((length) => [...textsOf(ALPHABETS[kind], length)]);
  return [...short, ...longTexts(kind).filter((text, i, { length }) => text.length < 64 && (i % 5 === 0 || i > length - 10))];
}

/** How the Go command reads the texts. */
function ask(command: string, kind: Reading["kind"], texts: readonly string[]): readonly Reading[] {
  const input = texts.map((text) => `${kind}\t${text}\n`).join("");
  const lines = execFileSync(command, { input, encoding: "utf8", maxBuffer: 2 ** 31 }).split("\n");
  return texts.map((text, i) => ({ kind, text, want: lines[i] ?? "" }));
}

/**
 * Compares the core with Kubernetes and Go on every text up to `--length` letters, and on long ones:
 * `node test/hostile/amounts.ts --length 5`. Prints how many texts were read, and the first that are read otherwise;
 * with `--table`, the readings that are kept. With `--length 6`, 11,967,580 texts took ten minutes.
 */
function main(): void {
  const { values } = parseArgs({ options: { length: { type: "string", default: "5" }, table: { type: "boolean", default: false } } });
  const command = buildCommand("amounts");
  if (values.table) {
    const kept = KINDS.flatMap((kind) => ask(command, kind, keptTexts(kind)));
    console.log(`[\n${kept.map(({ kind, text, want }) => JSON.stringify([kind, text, want])).join(",\n")}\n]`);
    return;
  }
  for (const kind of KINDS) {
    let read = 0;
    const differing: Reading[] = [];
    const compare = (texts: readonly string[]): void => {
      const readings = ask(command, kind, texts);
      read += readings.length;
      for (const reading of readings) if (!readsAlike(reading)) differing.push(reading);
    };
    compare(longTexts(kind));
    for (let length = 0; length <= Number(values.length); length++) {
      let texts: string[] = [];
      for (const text of textsOf(ALPHABETS[kind], length)) {
        texts.push(text);
        if (texts.length < 500_000) continue;
        compare(texts);
        texts = [];
      }
      compare(texts);
    }
    console.log(`${kind}: ${read} texts, ${differing.length} differences`);
    for (const { text, want } of differing.slice(0, 20)) console.log(`  ${JSON.stringify(text)}: Kubernetes reads ${want}`);
    if (differing.length > 0) process.exitCode = 1;
  }
}

if (import.meta.main) main();
