// The bounds in place of Lambda's guard against recursive loops, which the stack turns off (functions.ts, isInLoop).
// In: a function and how many clusters its stack serves. Out: invocations an hour that only a fault explains.

import { FUNCTION_NAMES, type FunctionName, isInLoop } from "./functions.ts";

/**
 * Invocations an hour of one large cluster that no ordinary hour reaches, and that an endless chain does. provision and
 * disruption: their wake-ups are folded into one a second, so 3,600 is the most (PLAN_HELD_BACK_MS,
 * functions/disruption/wake-times.ts). lifecycle: 3,500 nodes replaced in the hour whose pods take their grace period
 * of 30 s, at 57 invocations each without batches; pods of 0 s make it 29, of 120 s 118 (lab, world "aws", 40 nodes).
 * catalog: a sweep a minute and a change of an object each two seconds. An endless chain has more: 20 invocations of
 * lifecycle at once, of 0.1 s, are 720,000.
 */
const OF_ONE_CLUSTER: Partial<Record<FunctionName, number>> = { provision: 5_000, lifecycle: 200_000, disruption: 5_000, catalog: 2_000 };

/** How busy each further cluster of a stack is in the hour in which one is at its bound. */
const SHARE_OF_FURTHER = 0.1;

/** The functions that could wake themselves without end. */
export const LOOPING: readonly FunctionName[] = FUNCTION_NAMES.filter(isInLoop);

/** How many invocations an hour are a runaway of the function. */
export function runawayBound(name: FunctionName, clusters: number): number {
  const bound = OF_ONE_CLUSTER[name];
  if (bound === undefined) throw new Error(`${name} is in a loop and has no bound of invocations an hour; give it one in infra/runaway.ts`);
  return Math.round(bound * (1 + SHARE_OF_FURTHER * Math.max(0, clusters - 1)));
}
