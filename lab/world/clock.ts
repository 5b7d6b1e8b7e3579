import { AsyncLocalStorage } from "node:async_hooks";
import { setImmediate as turn } from "node:timers/promises";

export interface Timer {
  cancel(): void;
}

export interface RunOptions {
  /** Stop at this time (ms since the epoch), or as soon as the condition holds. Time never passes a given number. */
  readonly until?: number | (() => boolean);
  /** Stop when nothing has happened (see `touch`) for this long, ms. */
  readonly idle?: number;
  /** Stop at this time in any case, ms since the epoch. */
  readonly latest?: number;
}

/** Why a run stopped: `until` was reached, the world was idle, no event was left, or `latest` was reached. */
export type RunEnd = "until" | "idle" | "empty" | "latest";

/**
 * Virtual time: it jumps from event to event. Events run in the order of their time, then of their creation. An async
 * event is awaited before the next one starts, unless it waits for the clock itself (`sleep`, or `remote` under an
 * interleaving).
 *
 *     const clock = virtualClock(0);
 *     clock.after(5_000, "hello", () => console.log(clock.now())); // 5000, at once in real time
 *     await clock.run();
 */
export interface VirtualClock {
  /** Milliseconds since the epoch. */
  now(): number;
  at(ms: number, label: string, fn: () => void | Promise<void>): Timer;
  after(ms: number, label: string, fn: () => void | Promise<void>): Timer;
  /** Runs after `ms`, and again every `ms`. */
  every(ms: number, label: string, fn: () => void | Promise<void>): Timer;
  /** Resolves when that much virtual time has passed. */
  sleep(ms: number): Promise<void>;
  /** Records that something happened, so that the world is not idle. */
  touch(): void;
  /**
   * The gate before and after each remote call. Without an interleaving it is open. With one, a caller waits until all
   * running events wait, then the caller that `choose` picks continues. So a seed gives every order of remote calls.
   */
  remote(label: string): Promise<void>;
  /**
   * `choose` takes the labels of the waiting callers and returns the index of the one that continues. Undefined opens
   * the gate.
   */
  interleave(choose: ((labels: readonly string[]) => number) | undefined): void;
  /** Rejects with the first error that an event throws: it is a defect of the world. */
  run(options?: RunOptions): Promise<RunEnd>;
  /** The events to come, the soonest first. */
  pending(): readonly { readonly at: number; readonly label: string }[];
}

interface Event {
  readonly at: number;
  readonly sequence: number;
  readonly label: string;
  readonly fn: () => void | Promise<void>;
  cancelled: boolean;
}

/** A running event, and how often it waits for the clock. */
interface Task {
  readonly label: string;
  waits: number;
}

interface Waiter {
  readonly label: string;
  readonly go: () => void;
}

export function virtualClock(start: number): VirtualClock {
  const queue: Event[] = [];
  const tasks = new Set<Task>();
  const gate: Waiter[] = [];
  const task = new AsyncLocalStorage<Task>();
  let now = start;
  let sequence = 0;
  let lastTouch = start;
  let choose: ((labels: readonly string[]) => number) | undefined;
  let failure: { readonly error: unknown } | undefined;
  /** Wakes the run loop when a task ends or starts to wait. */
  let wake = (): void => {};

  const schedule = (ms: number, label: string, fn: Event["fn"]): Event => {
    const event: Event = { at: Math.max(now, Math.ceil(ms)), sequence: sequence++, label, fn, cancelled: false };
    push(queue, event);
    return event;
  };
  const timer = (event: Event): Timer => ({
    cancel: () => {
      event.cancelled = true;
    },
  });

  /** A promise during which its task counts as waiting for the clock. */
  const wait = (register: (go: () => void) => void): Promise<void> => {
    const mine = task.getStore();
    if (mine) mine.waits++;
    wake();
    return new Promise<void>((resolve) => {
      register(() => {
        if (mine) mine.waits--;
        resolve();
      });
    });
  };

  const startEvent = (event: Event): void => {
    const mine: Task = { label: event.label, waits: 0 };
    const end = (): void => {
      tasks.delete(mine);
      wake();
    };
    task.run(mine, () => {
      const result = event.fn();
      if (!(result instanceof Promise)) return;
      tasks.add(mine);
      result.then(end, (error: unknown) => {
        failure ??= { error };
        end();
      });
    });
  };

  /** Resolves when every running task has ended or waits for the clock. */
  const settle = async (): Promise<void> => {
    for (;;) {
      if (failure) throw failure.error;
      const busy = [...tasks].some((t) => t.waits === 0);
      if (busy) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
        wake = () => {};
        continue;
      }
      if (tasks.size === 0) return;
      // Some tasks wait. Their other branches (Promise.all) run as far as they can before time moves.
      const before = [...tasks].reduce((sum, t) => sum + t.waits, tasks.size);
      await turn();
      const after = [...tasks].reduce((sum, t) => sum + t.waits, tasks.size);
      if (before === after && ![...tasks].some((t) => t.waits === 0)) return;
    }
  };

  const next = (): Event | undefined => {
    while (queue[0]?.cancelled) pop(queue);
    return queue[0];
  };

  return {
    now: () => now,
    at: (ms, label, fn) => timer(schedule(ms, label, fn)),
    after: (ms, label, fn) => timer(schedule(now + ms, label, fn)),
    every(ms, label, fn) {
      let stopped = false;
      let event: Event;
      const again = (): void => {
        event = schedule(now + ms, label, () => {
          if (stopped) return;
          again();
          return fn();
        });
      };
      again();
      return {
        cancel: () => {
          stopped = true;
          event.cancelled = true;
        },
      };
    },
    sleep: (ms) => wait((go) => schedule(now + ms, "sleep", go)),
    touch: () => {
      lastTouch = now;
    },
    remote: (label) => (choose === undefined ? Promise.resolve() : wait((go) => gate.push({ label, go }))),
    interleave: (chooser) => {
      choose = chooser;
    },
    async run({ until, idle, latest } = {}) {
      lastTouch = now;
      const stop = typeof until === "number" ? until : undefined;
      const holds = typeof until === "function" ? until : undefined;
      for (;;) {
        await settle();
        if (holds?.()) return "until";
        const event = next();
        if (gate.length > 0) {
          // Due events take part in the choice, because a second invocation may start between two calls of the first.
          const due = event !== undefined && event.at <= now ? [event.label] : [];
          const index = choose ? choose([...gate.map((w) => w.label), ...due]) : 0;
          const waiter = gate.splice(Math.min(index, gate.length), 1)[0];
          if (waiter) {
            waiter.go();
            await turn();
            continue;
          }
        }
        if (event === undefined) {
          if (stop === undefined) return "empty";
          now = Math.max(now, stop);
          return "until";
        }
        const limit = Math.min(stop ?? Number.POSITIVE_INFINITY, latest ?? Number.POSITIVE_INFINITY);
        const idleAt = idle === undefined ? Number.POSITIVE_INFINITY : lastTouch + idle;
        if (event.at > Math.min(limit, idleAt)) {
          now = Math.max(now, Math.min(limit, idleAt));
          if (idleAt < limit) return "idle";
          return stop !== undefined && stop <= limit ? "until" : "latest";
        }
        pop(queue);
        now = event.at;
        startEvent(event);
      }
    },
    pending: () =>
      queue
        .filter((e) => !e.cancelled)
        .sort(order)
        .map(({ at, label }) => ({ at, label })),
  };
}

const order = (a: Event, b: Event): number => a.at - b.at || a.sequence - b.sequence;

/** A binary heap, because a busy world has thousands of timers. */
function push(heap: Event[], event: Event): void {
  let i = heap.length;
  heap.push(event);
  while (i > 0) {
    const parent = (i - 1) >> 1;
    const above = heap[parent];
    if (above === undefined || order(above, event) <= 0) break;
    heap[i] = above;
    i = parent;
  }
  heap[i] = event;
}

function pop(heap: Event[]): Event | undefined {
  const top = heap[0];
  const last = heap.pop();
  if (last === undefined || heap.length === 0) return top;
  let i = 0;
  for (;;) {
    const left = 2 * i + 1;
    const l = heap[left];
    if (l === undefined) break;
    const r = heap[left + 1];
    const [child, smaller] = r !== undefined && order(r, l) < 0 ? [left + 1, r] : [left, l];
    if (order(last, smaller) <= 0) break;
    heap[i] = smaller;
    i = child;
  }
  heap[i] = last;
  return top;
}
