import { parentPort } from "node:worker_threads";
import { runSeed, shrunk } from "./law.ts";
import type { Played, Task } from "./parallel.ts";

/** A worker thread of parallel.ts: plays each seed that it is sent. */
parentPort?.on("message", async ({ seed, count, shrinks }: Task) => {
  const began = performance.now();
  const { objects, refused, breaches } = await runSeed(seed, count);
  const ms = performance.now() - began;
  const fewest = shrinks && breaches.length > 0 ? (await shrunk(seed, objects)).map((object) => JSON.stringify(object)) : [];
  parentPort?.postMessage({ seed, breaches, objects: objects.length, refused: refused.length, fewest, ms } satisfies Played);
});
