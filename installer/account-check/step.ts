import type { CheckPorts } from "./ports.ts";

/** What a step has found. */
export interface Finding {
  /** Whether it is what is expected; undefined where what was seen does not decide it. */
  readonly isExpected: boolean | undefined;
  /** One sentence. */
  readonly seen: string;
  readonly figures?: Readonly<Record<string, number | string>>;
}

/** Machines that a step may launch. */
export interface Machines {
  readonly type: string;
  readonly count: number;
  readonly minutes: number;
  /** USD an hour, list price of us-east-1, on demand. */
  readonly pricePerHour: number;
}

/** A question that only an account answers. */
export interface Step {
  readonly name: string;
  readonly question: string;
  /** What the product is built on. */
  readonly expected: string;
  /** The place in the sources that the answer confirms or refutes: a file and a text in it. */
  readonly place: { readonly file: string; readonly text: string };
  /** Rights that it uses, as in "ec2:CreateFleet". */
  readonly calls: readonly string[];
  readonly makes: readonly string[];
  readonly minutes: number;
  readonly machines?: Machines;
  /** What an earlier step must have made. */
  readonly needs?: "loopStack" | "machine";
  readonly run: (scene: Scene) => Promise<Finding>;
}

/** What steps work with and pass on. */
export interface Scene extends Pick<CheckPorts, "cloud" | "notifyCode" | "now" | "sleep"> {
  readonly runId: string;
  readonly callerArn: string;
  /** Undefined where the person names none: no machine is launched then. */
  readonly subnet: string | undefined;
  readonly made: {
    /** The outputs of the stack with the loops. */
    loopStack?: Readonly<Record<string, string>>;
    machine?: { readonly id: string; readonly launchedAt: number };
  };
}

/** What a step waits for at most. */
const MAX_WAIT_MS = 6 * 60_000;

/** Asks until there is an answer. Returns it with the ms that it took; undefined after `limitMs`. */
export async function waitFor<T>(
  ask: () => Promise<T | undefined>,
  { now, sleep }: Pick<Scene, "now" | "sleep">,
  { everyMs, limitMs = MAX_WAIT_MS }: { readonly everyMs: number; readonly limitMs?: number },
): Promise<{ readonly value: T; readonly ms: number } | undefined> {
  const began = now();
  for (;;) {
    const value = await ask();
    if (value !== undefined) return { value, ms: now() - began };
    if (now() - began >= limitMs) return undefined;
    await sleep(everyMs);
  }
}
