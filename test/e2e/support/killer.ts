import { setTimeout as sleep } from "node:timers/promises";
import type { Random } from "../../conformance/generate/random.ts";
import type { BusyFunction, MiniStack } from "./ministack.ts";

/** Between two kills; long enough that something gets done in between. */
const LONGEST_PAUSE_MS = 2_000;
/** Between two looks for somebody at work. */
const LONGEST_LOOK_MS = 100;

export interface Killing {
  readonly random: Random;
  /** So many deaths are enough. */
  readonly most: number;
  readonly enough: () => boolean;
  /** Whether a function may be struck now, after these deaths. */
  readonly mayDie: (name: string, dead: readonly string[]) => boolean | Promise<boolean>;
}

/**
 * Kills function processes (SIGKILL) in the middle of invocations until `enough`, or `most` have died of it. Pauses and choices follow from the random
 * source. Gives the names of those that died.
 */
export async function killInvocations(ministack: MiniStack, { random, most, enough, mayDie }: Killing): Promise<readonly string[]> {
  const before = ministack.died().length;
  const died = (): readonly string[] => ministack.died().slice(before);
  while (!enough() && died().length < most) {
    await sleep(random.int(0, LONGEST_PAUSE_MS));
    const choose = async (): Promise<BusyFunction | undefined> => {
      const name = await chosen(ministack, random, (other) => mayDie(other, died()));
      // Those that are at it now: time has passed.
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

/** Each function that is at work is as likely as the next: the many short calls of one must not shield the others. */
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

/** Kills, and waits a moment for the death to be told. An invocation that has ended meanwhile dies of nothing. */
async function kill({ pid }: BusyFunction, deaths: () => number): Promise<void> {
  const before = deaths();
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    return; // it has ended by itself
  }
  for (let i = 0; i < 40 && deaths() === before; i++) await sleep(25);
}
