/** A clock that runs in real time and can be advanced: tasks that become due run at once, in order. */
export type Clock = {
  /** Epoch milliseconds. */
  now(): number;
  /** Runs `task` when the clock shows `now() + delayMs`. A delay of zero still waits for the caller to finish. */
  after(delayMs: number, task: () => void): void;
  /** Advances the clock and runs the tasks that are due. */
  advance(ms: number): void;
  /** Removes all tasks. */
  clear(): void;
};

type Task = { readonly at: number; readonly order: number; readonly run: () => void };

/** The timers are unreferenced, so that a pending boot keeps no process alive. */
export function runningClock(realNow: () => number = Date.now): Clock {
  let offset = 0;
  let order = 0;
  let tasks: Task[] = [];
  const now = () => realNow() + offset;

  function runDue(): void {
    for (;;) {
      const due = tasks.filter(({ at }) => at <= now()).sort((a, b) => a.at - b.at || a.order - b.order)[0];
      if (!due) return;
      tasks = tasks.filter((task) => task !== due);
      due.run();
    }
  }

  return {
    now,
    after(delayMs, run) {
      order += 1;
      tasks.push({ at: now() + delayMs, order, run });
      // Node reduces longer delays to 1 ms; for such tasks a test advances the clock.
      if (delayMs < 2 ** 31) setTimeout(runDue, delayMs + 1).unref();
    },
    advance(ms) {
      offset += ms;
      runDue();
    },
    clear() {
      tasks = [];
    },
  };
}
