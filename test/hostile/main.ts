/*
 * `npm run -s hostile -- --seed S --runs N`: whatever an API server admits may hurt only its owner.
 * In: seeds. Out: each breach of the law with the fewest objects that lead to it, and totals; exit code 1 with a
 * breach. draw/ makes objects at the edges of every field, course.ts plays an hour of ordinary pods in the lab, alone
 * and beside those objects, and law.ts compares.
 */
import { availableParallelism } from "node:os";
import { parseArgs } from "node:util";
import { Worker } from "node:worker_threads";
import { type Played, playAll, type Task } from "./parallel.ts";

const USAGE = `node test/hostile/main.ts [options]
  --seed S      first seed (1)
  --runs N      play N seeds (10)
  --objects K   draw K objects for each hour (600)
  --workers W   play seeds in W threads (as many as the machine has cores)
  --brief       do not look for the fewest objects that break the law
  --first       stop at the first seed that breaks the law
  --break NAME  break the law on purpose: play a copy of the project in which one rule is broken; "list" names them, "all" plays all
  --events      give the functions N odd events of every source, and print those that are not dropped with one sentence
  --records     play N clusters in which one record of the table is changed at odd places
  --cli         give the commands N odd command lines, scenarios and manifests, in 512 MB
  --admit       ask a real control plane which of the drawn objects it admits, and print what it refuses, by kind`;

const { values } = parseArgs({
  options: {
    seed: { type: "string", default: "1" },
    runs: { type: "string", default: "10" },
    objects: { type: "string", default: "600" },
    workers: { type: "string", default: String(availableParallelism()) },
    first: { type: "boolean", default: false },
    brief: { type: "boolean", default: false },
    break: { type: "string" },
    events: { type: "boolean", default: false },
    records: { type: "boolean", default: false },
    cli: { type: "boolean", default: false },
    admit: { type: "boolean", default: false },
    help: { type: "boolean", default: false },
  },
});
const [seed, runs, count] = [values.seed, values.runs, values.objects].map(Number) as [number, number, number];

/** Totals are printed after so many seeds, so that a run that is ended early has said what it reached. */
const SEEDS_PER_REPORT = 50;

function* tasks(): Generator<Task> {
  for (let next = seed; next < seed + runs; next++) yield { seed: next, count, shrinks: !values.brief };
}

async function play(): Promise<void> {
  let [objects, refused, found, played] = [0, 0, 0, 0];
  let slowest: Played | undefined;
  const began = performance.now();
  const report = (): void => {
    const seconds = (performance.now() - began) / 1_000;
    const speed = `${Math.round(objects / seconds)} objects a second, seed ${slowest?.seed} the slowest with ${Math.round((slowest?.ms ?? 0) / 1_000)} s`;
    console.log(`objects ${objects} (${refused} not admitted), cluster-hours ${played}, breaches ${found}; ${speed}`);
  };
  await playAll(tasks(), Number(values.workers), (run) => {
    played++;
    objects += run.objects;
    refused += run.refused;
    if (run.ms > (slowest?.ms ?? 0)) slowest = run;
    if (run.breaches.length > 0) {
      found++;
      console.log(`seed ${run.seed} breaks the law: ${run.breaches.slice(0, 3).join("; ")}`);
      for (const object of run.fewest) console.log(`  ${object.slice(0, 2_000)}`);
    }
    if (played % SEEDS_PER_REPORT === 0) report();
    return !(values.first && found > 0);
  });
  report();
  process.exitCode = found > 0 ? 1 : 0;
}

async function playEvents(): Promise<void> {
  const { SOURCES, wrongWithOddEvents } = await import("./odd-events.ts");
  const wrong = await wrongWithOddEvents(seed, runs);
  for (const what of wrong) console.log(what);
  console.log(`events ${runs * Object.keys(SOURCES).length}, wrong ${wrong.length}`);
  process.exitCode = wrong.length > 0 ? 1 : 0;
}

async function playRecords(): Promise<void> {
  const { wrongWithOddRecord } = await import("./odd-records.ts");
  let wrong = 0;
  for (let next = seed; next < seed + runs; next++) {
    const what = await wrongWithOddRecord(next);
    if (what === undefined) continue;
    wrong++;
    console.log(`seed ${next}: ${what}`);
  }
  console.log(`records ${runs}, wrong ${wrong}`);
  process.exitCode = wrong > 0 ? 1 : 0;
}

/** A command line that has not ended by then hangs, ms; its CPU time is bounded besides (odd-command-lines.ts). */
const MAX_SILENCE_MS = 120_000;
const MAX_MEMORY_MB = 512;

async function playCommandLines(): Promise<void> {
  let [wrong, played] = [0, 0];
  const report = (what: string): void => {
    wrong++;
    console.log(what);
  };
  for (let next = seed; next < seed + runs; ) {
    const worker = new Worker(new URL("./odd-command-lines-worker.ts", import.meta.url), {
      workerData: { seed: next, until: seed + runs },
      resourceLimits: { maxOldGenerationSizeMb: MAX_MEMORY_MB },
    });
    // Ends with the last seed, or with one that ends the thread: then the next thread begins after it.
    next = await new Promise<number>((resolve) => {
      let last = next;
      const end = (why: string): void => {
        report(`seed ${last}: ${why}`);
        void worker.terminate();
        resolve(last + 1);
      };
      let timer = setTimeout(() => end("hangs"), MAX_SILENCE_MS);
      worker.on("message", ({ seed: done, what }: { readonly seed: number; readonly what?: string }) => {
        clearTimeout(timer);
        played++;
        if (what !== undefined) report(`seed ${done}: ${what}`);
        last = done + 1;
        if (last < seed + runs) timer = setTimeout(() => end("hangs"), MAX_SILENCE_MS);
        else void worker.terminate().then(() => resolve(last));
      });
      worker.on("error", (error) => {
        clearTimeout(timer);
        end(`ends the process: ${error.message}`);
      });
    });
  }
  console.log(`command lines ${played}, wrong ${wrong}`);
  process.exitCode = wrong > 0 ? 1 : 0;
}

if (values.help) console.log(USAGE);
else if (values.break !== undefined) (await import("./breaks.ts")).playBroken(values.break);
else if (values.admit) await (await import("./admit.ts")).askServer(seed, runs, count);
else if (values.events) await playEvents();
else if (values.records) await playRecords();
else if (values.cli) await playCommandLines();
else await play();
