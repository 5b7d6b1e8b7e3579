import { AsyncLocalStorage } from "node:async_hooks";
import { setImmediate as turn } from "node:timers/promises";

export interface Timer {
  cancel(): void;
}

export interface RunOptions {
  /** Stop at this time (ms since the epoch), or as soon as this holds. Time never goes beyond a given number. */
  readonly until?: number | (() => boolean);
  /** Stop once nothing has happened (see `touch`) for this long, ms. */
  readonly idle?: number;
  /** Never run further than this (ms since the epoch). */
  readonly latest?: number;
}

/** Why a run came back: "until" was reached, all was idle, no event was left, or time was up. */
export type RunEnd = "until" | "idle" | "empty" | "latest";

/**
 * Virtual time: jumps from event to event. Events run in the order of their time, then of their making; an async event
 * is awaited before the next starts, unless it waits for the clock itself (`sleep`, or `remote` under an interleaving).
 */
export interface VirtualClock {
  /** Milliseconds since the epoch. */
  now(): number;
  at(ms: number, label: string, fn: () => void | Promise<void>): Timer;
  after(ms: number, label: string, fn: () => void | Promise<void>): Timer;
  /** First after `ms`, then again and again. */
  every(ms: number, label: string, fn: () => void | Promise<void>): Timer;
  /** Resolves when that much virtual time has passed. */
  sleep(ms: number): Promise<void>;
  /** Says that something happened, so that the world is not idle. */
  touch(): void;
  /**
   * The gate before and after each remote call. Without an interleaving it is open. With one, whoever comes waits until all
   * are waiting, then the one that `choose` names goes on: every order of remote calls can be had from a seed.
   */
  remote(label: string): Promise<void>;
  /** Takes the labels of those that wait and the number of them; returns the index of the one that goes on. Undefined opens the gate. */
  interleave(choose: ((labels: readonly string[]) => number) | undefined): void;
  /** Errors that events threw: a world's own defect, never swallowed. */
  run(options?: RunOptions): Promise<RunEnd>;
  /** Labels and times of what is to come, soonest first. */
  pending(): readonly { readonly at: number; readonly label: string }[];
}

interface Event {
  readonly at: number;
  readonly sequence: number;
  readonly label: string;
  readonly fn: () => void | Promise<void>;
  cancelled: boolean;
}

/** An event that is still running, and how often it waits for the clock. */
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
  /** Wakes the run loop when a task settles or comes to wait. */
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

  /** A promise that counts its task as waiting for the clock until it is let go. */
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

  const start1 = (event: Event): void => {
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

  /** Until every running task has ended or waits for the clock. */
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
      // Some wait: let their other branches (Promise.all) come as far as they can before time moves.
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
          // Events that are due now take part in the draw: a second invocation may start between two calls of the first.
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
        start1(event);
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

/** A binary heap: a busy world holds thousands of timers. */
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
