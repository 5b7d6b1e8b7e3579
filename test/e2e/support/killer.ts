import { setTimeout as sleep } from "node:timers/promises";
import type { Random } from "../../conformance/generate/random.ts";
import type { BusyFunction, MiniStack } from "./ministack.ts";

/** Pause between two kills, ms; long enough for some progress. */
const LONGEST_PAUSE_MS = 2_000;
/** Pause between two reads of the busy functions, ms. */
const LONGEST_LOOK_MS = 100;

export interface Killing {
  readonly random: Random;
  /** Maximum number of deaths. */
  readonly most: number;
  readonly enough: () => boolean;
  /** Whether a function may be killed now, after these deaths. */
  readonly mayDie: (name: string, dead: readonly string[]) => boolean | Promise<boolean>;
}

/**
 * Kills function processes (SIGKILL) in the middle of invocations until `enough()`, or until `most` have died. Pauses
 * and choices depend only on the random source. Returns the names of the functions that died.
 */
export async function killInvocations(ministack: MiniStack, { random, most, enough, mayDie }: Killing): Promise<readonly string[]> {
  const before = ministack.died().length;
  const died = (): readonly string[] => ministack.died().slice(before);
  while (!enough() && died().length < most) {
    await sleep(random.int(0, LONGEST_PAUSE_MS));
    const choose = async (): Promise<BusyFunction | undefined> => {
      const name = await chosen(ministack, random, (other) => mayDie(other, died()));
      // Reads the busy functions again, because time has passed.
      const busy = ministack.busy().filter((one) => one.name === name);
      return busy.length === 0 ? undefined : random.pick(busy);
    };
    let victim = await choose();
    while (victim === undefined && !enough()) {
      await sleep(random.int(1, LONGEST_LOOK_MS));
      victim = await choose();
    }
    if (victim !== undefined && !enough()) await kill(victim, () => died().length);
  }
  return died();
}

/**
 * Chooses each busy function with the same probability, because the many short calls of one must not shield the others.
 */
async function chosen(
  ministack: MiniStack,
  random: Random,
  mayDie: (name: string) => boolean | Promise<boolean>,
): Promise<string | undefined> {
  const names = [...new Set(ministack.busy().map(({ name }) => name))].sort();
  const allowed = await Promise.all(names.map(mayDie));
  const victims = names.filter((_, i) => allowed[i]);
  return victims.length === 0 ? undefined : random.pick(victims);
}

/** Kills a process and waits until its death is reported. An invocation that has ended meanwhile does not count. */
async function kill({ pid }: BusyFunction, deaths: () => number): Promise<void> {
  const before = deaths();
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    return; // the process has already ended
  }
  for (let i = 0; i < 40 && deaths() === before; i++) await sleep(25);
}
