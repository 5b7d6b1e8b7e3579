import { parentPort, workerData } from "node:worker_threads";
import { wrongWithOddCommandLine } from "./odd-command-lines.ts";

/** Plays the command lines of main.ts in a thread of bounded memory. Posts what each did wrong. */
const { seed, until } = workerData as { readonly seed: number; readonly until: number };
for (let next = seed; next < until; next++) parentPort?.postMessage({ seed: next, what: await wrongWithOddCommandLine(next) });
