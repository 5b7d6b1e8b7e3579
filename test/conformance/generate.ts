/**
 * Writes scenarios for the judges and the oracle: `node test/conformance/generate.ts --seed S --count N --out FOLDER`
 * (--from I begins at number I; --kind K writes only that kind of generate/mix.ts). The same seed and number give the
 * same scenario on every machine.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { generateScenario } from "./generate/scenario.ts";

const USAGE = "usage: node test/conformance/generate.ts --seed S --count N --out FOLDER [--from I] [--kind K] (S, N and I whole numbers)";

try {
  const { values } = parseArgs({
    options: {
      seed: { type: "string" },
      count: { type: "string" },
      from: { type: "string" },
      kind: { type: "string" },
      out: { type: "string" },
    },
  });
  const [seed, count, from] = [values.seed ?? "1", values.count ?? "120", values.from ?? "0"].map((text) =>
    /^\d+$/.test(text) ? Number(text) : Number.NaN,
  ) as [number, number, number];
  if (values.out === undefined || Number.isNaN(seed + count + from)) throw new TypeError("--out is needed, and numbers must be whole");
  mkdirSync(values.out, { recursive: true });
  for (let i = from; i < from + count; i++) {
    writeFileSync(
      join(values.out, `${String(i).padStart(3, "0")}.scenario.json`),
      `${JSON.stringify(generateScenario(seed, i, values.kind))}\n`,
    );
  }
} catch (error) {
  console.error(`${error instanceof Error ? error.message : String(error)}; ${USAGE}`);
  process.exitCode = 2;
}
