import { Worker } from "node:worker_threads";
import type { Run } from "./law.ts";

/** What a worker thread is asked: to play a seed, and to find the fewest objects that break the law. */
export interface Task {
  readonly seed: number;
  /** Objects to draw. */
  readonly count: number;
  readonly shrinks: boolean;
}

/** What a worker thread answers. */
export interface Played extends Pick<Run, "seed" | "breaches"> {
  readonly objects: number;
  readonly refused: number;
  /** The fewest objects that break the law, as JSON; empty when it holds. */
  readonly fewest: readonly string[];
  /** How long the hour took to play, ms. */
  readonly ms: number;
}

/**
 * Plays tasks in so many worker threads, a task at a time in each. `onPlayed` is called as each task ends, in no
 * order; the tasks end early when it returns false.
 */
export async function playAll(tasks: Iterable<Task>, workers: number, onPlayed: (played: Played) => boolean): Promise<void> {
  const left = tasks[Symbol.iterator]();
  let goesOn = true;
  const work = async (): Promise<void> => {
    const worker = new Worker(new URL("./parallel-worker.ts", import.meta.url));
    try {
      for (let next = left.next(); goesOn && !next.done; next = left.next()) {
        const played = await answer(worker, next.value);
        if (goesOn) goesOn = onPlayed(played);
      }
    } finally {
      await worker.terminate();
    }
  };
  await Promise.all(Array.from({ length: workers }, work));
}

function answer(worker: Worker, task: Task): Promise<Played> {
  return new Promise((resolve, reject) => {
    const fail = (error: Error): void => reject(new Error(`seed ${task.seed} could not be played: ${error.message}`, { cause: error }));
    worker.once("error", fail);
    worker.once("message", (played: Played) => {
      worker.off("error", fail);
      resolve(played);
    });
    worker.postMessage(task);
  });
}
