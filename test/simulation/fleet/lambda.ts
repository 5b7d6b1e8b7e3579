import { AsyncLocalStorage } from "node:async_hooks";
import { FUNCTIONS, type FunctionName } from "#infra/functions.ts";
import type { VirtualClock } from "#lab/world/clock.ts";
import { currentInvocation, invoke, KilledError } from "#lab/world/invocation.ts";
import type { RememberedLists } from "./costs.ts";
import { INIT_MS, WHOLE_CPU_MB } from "./costs.ts";

/** The time that is left to an invocation, as Lambda tells it. */
export interface Context {
  getRemainingTimeInMillis(): number;
}

/** One process of a function: it serves one invocation after the other, and is frozen in between. */
export interface Environment extends RememberedLists {
  readonly fn: FunctionName;
  readonly isFrozen: () => boolean;
}

interface OwnEnvironment extends Environment {
  busy: boolean;
  /** Virtual time at which its CPU has done what it was given, ms. */
  cpuFreeAt: number;
}

export interface FunctionTotals {
  invocations: number;
  coldStarts: number;
  /** Invocations that Lambda ended at their timeout. */
  timeouts: number;
  /** Refused because the account ran as many as it may. */
  throttles: number;
  /** Most invocations at once. */
  peak: number;
  billedMs: number;
  cpuMs: number;
}

/** All invocations at once that an account may have. */
export interface LambdaOptions {
  readonly clock: VirtualClock;
  readonly accountConcurrency: number;
}

/** Lambda starts no further invocation. */
export class ThrottledInvocationError extends Error {
  override readonly name = "ThrottledInvocationError";
}

/** Objects that a function remembers (functions/wiring/clusters.ts), and the list that is long enough for it. */
const MAX_REMEMBERED = 100_000;
const LONG_LIST = 500;
/** How often an environment that is frozen is looked at, ms. */
const THAW_MS = 1_000;

/** CPU time of this thread in ms. Garbage collection in other threads does not count: Lambda's has no second CPU. */
function cpuNow(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}

const running = new AsyncLocalStorage<OwnEnvironment>();

export const currentEnvironment = (): Environment | undefined => running.getStore();

/**
 * Lambda on a virtual clock: environments with cold starts and memories of their own, timeouts, freezing, one bound of
 * concurrency for the account, and CPU time. The CPU time that the product has used between two remote calls is
 * measured, and passes on the virtual clock at the share of a CPU that the function's memory buys: whoever shares an
 * environment waits for it.
 */
export function lambda({ clock, accountConcurrency }: LambdaOptions) {
  const totals = new Map<FunctionName, FunctionTotals>();
  const now = { running: 0, peak: 0 };
  /** CPU time up to here has been accounted for, or was not the product's. */
  let mark = cpuNow();

  const totalsOf = (fn: FunctionName): FunctionTotals => {
    const known = totals.get(fn) ?? { invocations: 0, coldStarts: 0, timeouts: 0, throttles: 0, peak: 0, billedMs: 0, cpuMs: 0 };
    totals.set(fn, known);
    return known;
  };

  const newEnvironment = (fn: FunctionName): OwnEnvironment => {
    const lists = new Map<string, number>();
    const environment: OwnEnvironment = {
      fn,
      busy: false,
      cpuFreeAt: 0,
      isFrozen: () => !environment.busy,
      recall(key, size) {
        const isKnown = lists.delete(key);
        if (size > LONG_LIST) lists.set(key, size);
        let objects = [...lists.values()].reduce((sum, one) => sum + one, 0);
        for (const [oldest, one] of lists) {
          if (objects <= MAX_REMEMBERED || oldest === key) break;
          lists.delete(oldest);
          objects -= one;
        }
        return isKnown;
      },
    };
    return environment;
  };

  /** Passes CPU time on the clock of the environment. */
  const compute = async (environment: OwnEnvironment, cpuMs: number): Promise<void> => {
    const { memory } = FUNCTIONS[environment.fn];
    totalsOf(environment.fn).cpuMs += cpuMs;
    const free = Math.max(clock.now(), environment.cpuFreeAt) + cpuMs * Math.max(1, WHOLE_CPU_MB / memory);
    environment.cpuFreeAt = free;
    if (free - clock.now() >= 1) await clock.sleep(free - clock.now());
  };

  /** The CPU time since the product went on. */
  const charge = async (more = 0): Promise<void> => {
    const environment = running.getStore();
    const used = Math.max(0, cpuNow() - mark);
    mark = cpuNow();
    if (environment === undefined) return;
    await compute(environment, used + more);
    // Work that an invocation has left behind does nothing until the next one.
    while (!environment.busy) await clock.sleep(THAW_MS);
  };

  /** The product goes on: what was computed since the last charge was the world's. */
  const goOn = (): void => {
    mark = cpuNow();
  };

  /** Makes the function `fn`, whose environments each get an entry of their own. */
  const deploy = <E>(fn: FunctionName, entryOf: (environment: Environment) => E) => {
    const idle: { readonly environment: OwnEnvironment; readonly entry: E }[] = [];
    const timeoutMs = FUNCTIONS[fn].timeoutSeconds * 1_000;
    const sum = totalsOf(fn);
    let concurrent = 0;
    let runs = 0;
    return async <T>(call: (entry: E, context: Context) => Promise<T>): Promise<T> => {
      if (now.running >= accountConcurrency) {
        sum.throttles++;
        throw new ThrottledInvocationError(`Lambda refused an invocation of ${fn}: the account runs ${accountConcurrency}`);
      }
      sum.invocations++;
      now.running++;
      now.peak = Math.max(now.peak, now.running);
      sum.peak = Math.max(sum.peak, ++concurrent);
      // The one that was busy last is warm, and Lambda lets the others end.
      let process = idle.pop();
      if (process === undefined) {
        sum.coldStarts++;
        const environment = newEnvironment(fn);
        process = { environment, entry: entryOf(environment) };
        await clock.sleep(INIT_MS);
      }
      const { environment, entry } = process;
      environment.busy = true;
      const began = clock.now();
      const context: Context = { getRemainingTimeInMillis: () => timeoutMs - (clock.now() - began) };
      const end = (): void => {
        now.running--;
        concurrent--;
        sum.billedMs += clock.now() - began;
        environment.busy = false;
      };
      try {
        const result = await invoke(`${fn}-${++runs}`, fn, () =>
          running.run(environment, async () => {
            const invocation = currentInvocation();
            const timer = clock.after(timeoutMs, `timeout of ${fn}`, () => invocation?.kill());
            try {
              goOn();
              return await call(entry, context);
            } finally {
              await charge();
              timer.cancel();
            }
          }),
        );
        end();
        idle.push(process);
        return result;
      } catch (error) {
        // A process that Lambda has killed starts anew.
        end();
        if (error instanceof KilledError) sum.timeouts++;
        else idle.push(process);
        throw error;
      }
    };
  };

  return { deploy, charge, goOn, totals, peak: () => now.peak };
}

export type Lambda = ReturnType<typeof lambda>;
