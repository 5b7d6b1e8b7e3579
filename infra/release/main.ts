import { parseArgs } from "node:util";
import { BadInput, endWith } from "../end-with.ts";
import { makeRelease } from "./make-release.ts";

const USAGE = "npm run release -- --out FOLDER";

async function main(): Promise<void> {
  const { values } = parseArgs({ options: { out: { type: "string" } } });
  if (values.out === undefined) throw new BadInput(`--out is missing; usage: ${USAGE}`);
  for (const file of await makeRelease(values.out)) console.log(file);
}

try {
  await main();
} catch (error) {
  endWith(error, USAGE);
}
