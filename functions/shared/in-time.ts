import type { Later } from "./cluster-deps.ts";

/** What an entry reads of Lambda's context. */
export interface InvocationContext {
  getRemainingTimeInMillis(): number;
}

/** Time at the end of an invocation that its outcome is reported in, ms. No benchmark has tuned it. */
const REPORTING_MS = 2_000;

/** The work did not end in time. It may still continue. */
export class OutOfTimeError extends Error {
  override readonly name = "OutOfTimeError";
}

/**
 * Does `work` within the time that is left to the invocation, so that a cluster that hangs does not have it killed with
 * the work for the others. Work that is given up may continue, as late as that of any function; rejects then.
 */
export async function inTime(work: () => Promise<void>, context: InvocationContext | undefined, later: Later): Promise<void> {
  if (context === undefined) return work();
  const leftMs = context.getRemainingTimeInMillis() - REPORTING_MS;
  const late = `The cluster's work did not end in the ${Math.round(leftMs / 1_000)} s that were left to the function.`;
  if (leftMs <= 0) throw new OutOfTimeError(late);
  await within(leftMs, work, late, later);
}

/** What `work` comes to; rejects with the sentence `late` after `ms`, when work that is given up may still continue. */
export async function within<T>(ms: number, work: () => Promise<T>, late: string, later: Later): Promise<T> {
  const { promise: timeout, reject } = Promise.withResolvers<never>();
  const cancel = later(ms, () => reject(new OutOfTimeError(late)));
  try {
    return await Promise.race([work(), timeout]);
  } finally {
    cancel();
  }
}
