import { Worker } from "node:worker_threads";

/** How long a command is silent before it gives a sign, and how often it gives one in a long silence. */
const [SIGN_AFTER_MS, LATER_EVERY_MS] = [2_000, 10_000];

/** Signs that a command works. */
export interface Signs {
  /** The command has said something itself. */
  heard(): void;
  end(): void;
}

/**
 * Another thread, because planning and synthesis keep the first one for seconds: it writes to the descriptor of
 * standard error itself. The number in `said` grows with each line that the command prints.
 */
const THREAD = `
const { workerData: { name, said, afterMs, laterMs, rest } } = require("node:worker_threads");
const { writeSync } = require("node:fs");
const tickMs = afterMs / 10;
let [known, ticks] = [0, 0];
setInterval(() => {
  const now = Atomics.load(said, 0);
  ticks = now === known ? ticks + 1 : 0;
  known = now;
  const silentMs = ticks * tickMs;
  if (ticks > 0 && silentMs % (silentMs <= laterMs ? afterMs : laterMs) === 0)
    try { writeSync(2, name + ": works, silent for " + silentMs / 1_000 + " s" + rest + "\\n"); } catch {}
}, tickMs);
`;

let running: Signs | undefined;

/** To be called by what writes to standard error itself, so that no sign comes beside it. */
export const heard = (): void => running?.heard();

/** Says on standard error, also in a pipe, that a command works while it prints nothing. One command runs at a time. */
export function signsOfLife(name: string, afterMs = SIGN_AFTER_MS, laterMs = LATER_EVERY_MS): Signs {
  const said = new Int32Array(new SharedArrayBuffer(4));
  // On a terminal a sign may be written over a longer line of progress, whose rest is erased.
  const rest = process.stderr.isTTY ? "\u001b[K" : "";
  const worker = new Worker(THREAD, { eval: true, execArgv: [], workerData: { name, said, afterMs, laterMs, rest } });
  worker.unref();
  // Without signs the command works as well.
  worker.on("error", () => {});
  running = {
    heard: () => void Atomics.add(said, 0, 1),
    end: () => {
      running = undefined;
      void worker.terminate();
    },
  };
  return running;
}
