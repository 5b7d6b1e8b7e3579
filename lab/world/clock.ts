import { AsyncLocalStorage } from "node:async_hooks";
import { setImmediate as turn } from "node:timers/promises";

interface Timer {
  cancel(): void;
}

interface RunOptions {
  /** Stop at this time (ms since the epoch), or as soon as the condition holds. Time never passes a given number. */
  readonly until?: number | (() => boolean);
  /** Stop when nothing has happened (see `touch`) for this long, ms. */
  readonly idle?: number;
  /** Stop at this time in any case, ms since the epoch. */
  readonly latest?: number;
}

/** Why a run stopped: `until` was reached, the world was idle, no event was left, or `latest` was reached. */
type RunEnd = "until" | "idle" | "empty" | "latest";

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

type Choose = (labels: readonly string[]) => number;

class Clock implements VirtualClock {
  readonly #queue: Event[] = [];
  readonly #tasks = new Set<Task>();
  readonly #gate: Waiter[] = [];
  readonly #task = new AsyncLocalStorage<Task>();
  #now: number;
  #sequence = 0;
  #lastTouch: number;
  #choose: Choose | undefined;
  #failure: { readonly error: unknown } | undefined;
  /** Wakes the run loop when a task ends or starts to wait. */
  #wake = (): void => {};

  constructor(start: number) {
    this.#now = start;
    this.#lastTouch = start;
  }

  // `now` and `sleep` are handed on without their clock.
  readonly now = (): number => this.#now;
  readonly sleep = (ms: number): Promise<void> => this.#wait((go) => void this.#schedule(this.#now + ms, "sleep", go));

  at(ms: number, label: string, fn: Event["fn"]): Timer {
    const event = this.#schedule(ms, label, fn);
    return {
      cancel: () => {
        event.cancelled = true;
      },
    };
  }

  after(ms: number, label: string, fn: Event["fn"]): Timer {
    return this.at(this.#now + ms, label, fn);
  }

  every(ms: number, label: string, fn: Event["fn"]): Timer {
    let stopped = false;
    let event: Event;
    const again = (): void => {
      event = this.#schedule(this.#now + ms, label, () => {
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
  }

  touch(): void {
    this.#lastTouch = this.#now;
  }

  remote(label: string): Promise<void> {
    return this.#choose === undefined ? Promise.resolve() : this.#wait((go) => void this.#gate.push({ label, go }));
  }

  interleave(choose: Choose | undefined): void {
    this.#choose = choose;
  }

  async run(options: RunOptions = {}): Promise<RunEnd> {
    this.#lastTouch = this.#now;
    const holds = typeof options.until === "function" ? options.until : undefined;
    for (;;) {
      await this.#settle();
      if (holds?.()) return "until";
      const event = this.#next();
      if (await this.#openGate(event)) continue;
      const end = this.#endBefore(event, options);
      if (end !== undefined) return end;
      if (event === undefined) return "empty";
      pop(this.#queue);
      this.#now = event.at;
      this.#start(event);
    }
  }

  pending(): readonly { readonly at: number; readonly label: string }[] {
    return this.#queue
      .filter((e) => !e.cancelled)
      .sort(order)
      .map(({ at, label }) => ({ at, label }));
  }

  #schedule(ms: number, label: string, fn: Event["fn"]): Event {
    const event: Event = { at: Math.max(this.#now, Math.ceil(ms)), sequence: this.#sequence++, label, fn, cancelled: false };
    push(this.#queue, event);
    return event;
  }

  /** A promise during which its task counts as waiting for the clock. */
  #wait(register: (go: () => void) => void): Promise<void> {
    const mine = this.#task.getStore();
    if (mine) mine.waits++;
    this.#wake();
    return new Promise<void>((resolve) => {
      register(() => {
        if (mine) mine.waits--;
        resolve();
      });
    });
  }

  #start(event: Event): void {
    const mine: Task = { label: event.label, waits: 0 };
    const end = (): void => {
      this.#tasks.delete(mine);
      this.#wake();
    };
    this.#task.run(mine, () => {
      const result = event.fn();
      if (!(result instanceof Promise)) return;
      this.#tasks.add(mine);
      result.then(end, (error: unknown) => {
        this.#failure ??= { error };
        end();
      });
    });
  }

  /** Resolves when every running task has ended or waits for the clock. */
  async #settle(): Promise<void> {
    for (;;) {
      if (this.#failure) throw this.#failure.error;
      if (this.#isBusy()) {
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
        this.#wake = () => {};
        continue;
      }
      if (this.#tasks.size === 0) return;
      // Some tasks wait. Their other branches (Promise.all) run as far as they can before time moves.
      const before = this.#waits();
      await turn();
      if (before === this.#waits() && !this.#isBusy()) return;
    }
  }

  #isBusy(): boolean {
    return [...this.#tasks].some((t) => t.waits === 0);
  }

  #waits(): number {
    return [...this.#tasks].reduce((sum, t) => sum + t.waits, this.#tasks.size);
  }

  #next(): Event | undefined {
    while (this.#queue[0]?.cancelled) pop(this.#queue);
    return this.#queue[0];
  }

  /** Lets one caller of `remote` continue. False when none waits, or an event that is due comes first. */
  async #openGate(event: Event | undefined): Promise<boolean> {
    if (this.#gate.length === 0) return false;
    // Due events take part in the choice, because a second invocation may start between two calls of the first.
    const due = event !== undefined && event.at <= this.#now ? [event.label] : [];
    const index = this.#choose ? this.#choose([...this.#gate.map((w) => w.label), ...due]) : 0;
    const waiter = this.#gate.splice(Math.min(index, this.#gate.length), 1)[0];
    if (waiter === undefined) return false;
    waiter.go();
    await turn();
    return true;
  }

  /** Why the run ends before the event; time is then moved to the end. Undefined when the event is next. */
  #endBefore(event: Event | undefined, { until, idle, latest }: RunOptions): RunEnd | undefined {
    const stop = typeof until === "number" ? until : undefined;
    if (event === undefined) {
      if (stop === undefined) return "empty";
      this.#now = Math.max(this.#now, stop);
      return "until";
    }
    const limit = Math.min(stop ?? Number.POSITIVE_INFINITY, latest ?? Number.POSITIVE_INFINITY);
    const idleAt = idle === undefined ? Number.POSITIVE_INFINITY : this.#lastTouch + idle;
    if (event.at <= Math.min(limit, idleAt)) return undefined;
    this.#now = Math.max(this.#now, Math.min(limit, idleAt));
    if (idleAt < limit) return "idle";
    return stop !== undefined && stop <= limit ? "until" : "latest";
  }
}

export const virtualClock = (start: number): VirtualClock => new Clock(start);

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
