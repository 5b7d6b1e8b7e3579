/*
 * `npm run -s hostile -- --seed S --runs N`: whatever an API server admits may hurt only its owner.
 * In: seeds. Out: each breach of the law with the fewest objects that lead to it, and totals; exit code 1 with a
 * breach. draw/ makes objects at the edges of every field, course.ts plays an hour of ordinary pods in the lab, alone
 * and beside those objects, and law.ts compares.
 */
import { parseArgs } from "node:util";
import { runSeed, shrunk } from "./law.ts";

const USAGE = `node test/hostile/main.ts [options]
  --seed S      first seed (1)
  --runs N      play N seeds (10)
  --objects K   draw K objects for each hour (600)
  --brief       do not look for the fewest objects that break the law
  --first       stop at the first seed that breaks the law
  --break NAME  break the law on purpose: play a copy of the project in which one rule is broken; "list" names them, "all" plays all
  --admit       ask a real control plane which of the drawn objects it admits, and print what it refuses, by kind`;

const { values } = parseArgs({
  options: {
    seed: { type: "string", default: "1" },
    runs: { type: "string", default: "10" },
    objects: { type: "string", default: "600" },
    first: { type: "boolean", default: false },
    brief: { type: "boolean", default: false },
    break: { type: "string" },
    admit: { type: "boolean", default: false },
    help: { type: "boolean", default: false },
  },
});
const [seed, runs, count] = [values.seed, values.runs, values.objects].map(Number) as [number, number, number];

async function play(): Promise<void> {
  let [objects, refused, found, played] = [0, 0, 0, 0];
  const began = performance.now();
  for (let next = seed; next < seed + runs; next++) {
    const run = await runSeed(next, count);
    played++;
    objects += run.objects.length;
    refused += run.refused.length;
    if (run.breaches.length === 0) continue;
    found++;
    console.log(`seed ${next} breaks the law: ${run.breaches.slice(0, 3).join("; ")}`);
    if (!values.brief) for (const object of await shrunk(next, run.objects)) console.log(`  ${JSON.stringify(object).slice(0, 2_000)}`);
    if (values.first) break;
  }
  const seconds = (performance.now() - began) / 1_000;
  console.log(
    `objects ${objects} (${refused} not admitted), cluster-hours ${played}, breaches ${found}; ${Math.round(objects / seconds)} objects a second`,
  );
  process.exitCode = found > 0 ? 1 : 0;
}

if (values.help) console.log(USAGE);
else if (values.break !== undefined) (await import("./breaks.ts")).playBroken(values.break);
else if (values.admit) await (await import("./admit.ts")).askServer(seed, runs, count);
else await play();
