import type { PortCall } from "#lab/world/intercept.ts";
import { errorOf } from "../faults/failure.ts";
import { type Course, type Stack, secondsOf } from "./course.ts";

/** A call that fails: it has no effect, or it has one and its answer is lost. */
export const FAILURES = ["error", "answer lost"] as const;
export type FailureKind = (typeof FAILURES)[number];

/** How much later than without a failure pods may run, seconds: EC2 may list a launch up to a minute late. */
export const LATEST: Readonly<Record<FailureKind, number>> = { error: 10, "answer lost": 75 };

/** What came of one call that failed. */
export interface Delay {
  readonly course: string;
  readonly stack: Stack;
  readonly failure: FailureKind;
  /** "fleet.launch", "kubernetes.create NodeClaim". */
  readonly call: string;
  /** The function that made the call. */
  readonly fn: string;
  /** How much later pods run, seconds; Infinity when they do not. */
  readonly later: number;
}

const nameOf = ({ port, method, args: [first] }: PortCall): string => {
  const kind =
    port === "kubernetes" ? (typeof first === "string" ? first : (first as { readonly kind?: string } | undefined)?.kind) : undefined;
  return `${port}.${method}${kind === undefined ? "" : ` ${kind}`}`;
};

/** The calls of a course without a failure, in order, and its seconds. */
export async function unharmed(
  course: Course,
  stack: Stack,
): Promise<{ readonly seconds: number; readonly calls: readonly { readonly call: string; readonly fn: string }[] }> {
  const calls: { call: string; fn: string }[] = [];
  const seconds = await secondsOf(course, stack, {
    before: (call) => {
      calls.push({ call: nameOf(call), fn: call.invocation?.name ?? "" });
      return undefined;
    },
  });
  if (seconds === undefined) throw new Error(`pods do not run in the course "${course.name}" with nothing failing`);
  return { seconds, calls };
}

/** Seconds until pods run when the call of this place, from 1, fails once. */
async function withFailure(course: Course, stack: Stack, failure: FailureKind, place: number): Promise<number> {
  let seen = 0;
  let struck: PortCall | undefined;
  const failing = (fails: boolean): undefined => {
    if (fails) throw errorOf("server");
  };
  const seconds = await secondsOf(course, stack, {
    before: (call) => {
      if (++seen === place) struck = call;
      return failing(struck === call && failure === "error");
    },
    after: (call) => failing(struck === call),
  });
  return seconds ?? Number.POSITIVE_INFINITY;
}

/**
 * What each call of a course costs that fails once; of the calls of one name in one function, at most `most`, spread
 * over the course. `step`: of these names, one in so many.
 */
export async function* delays(course: Course, stack: Stack, most: number, step = 1): AsyncGenerator<Delay> {
  const plain = await unharmed(course, stack);
  const places = plain.calls.map(({ call, fn }, i) => ({ call, fn, place: i + 1 }));
  const byName = [...Map.groupBy(places, ({ call, fn }) => `${call} ${fn}`).values()];
  for (const ofName of byName.filter((_, i) => i % step === 0)) {
    const every = Math.max(1, Math.ceil(ofName.length / most));
    for (const { call, fn, place } of ofName.filter((_, i) => i % every === 0)) {
      for (const failure of FAILURES) {
        const seconds = await withFailure(course, stack, failure, place);
        yield { course: course.name, stack, failure, call, fn, later: Math.max(0, seconds - plain.seconds) };
      }
    }
  }
}

export const isTooLate = ({ failure, later }: Delay): boolean => later > LATEST[failure];
