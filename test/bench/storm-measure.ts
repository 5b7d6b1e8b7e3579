/**
 * Plays a storm for one function in this process: `node test/bench/storm-measure.ts FUNCTION CLAIMS NOTICES` prints a
 * JSON line.
 */
import { STORMED, stormOf } from "./storm-scene.ts";

const [name, claims = "5000", notices = "1000"] = process.argv.slice(2);
const fn = STORMED.find((known) => known === name);
if (fn === undefined) throw new Error(`${name} is none of ${STORMED.join(", ")}`);
const storm = await stormOf(Number(claims), Number(notices));
const before = process.memoryUsage();
const start = performance.now();
let heap = 0;
const watch = setInterval(() => {
  heap = Math.max(heap, process.memoryUsage().heapUsed);
}, 20);
const invocations = await storm.play(fn);
clearInterval(watch);
const mib = (bytes: number): number => Math.round(bytes / 2 ** 20);
console.log(
  JSON.stringify({
    fn,
    invocations,
    records: storm.recordsRead(),
    seconds: Number(((performance.now() - start) / 1_000).toFixed(1)),
    sceneMib: mib(before.rss),
    heapMib: mib(Math.max(heap, process.memoryUsage().heapUsed)),
    rssMib: Math.round(process.resourceUsage().maxRSS / 1024),
    errors: storm.errors.length,
    firstError: storm.errors[0],
  }),
);
