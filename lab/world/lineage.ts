/**
 * How often each function has run in a chain of messages, by name. SQS carries it from the function that sends a
 * message to the one that receives it, as the Lineage of the header X-Amzn-Trace-Id.
 */
export type Lineage = ReadonlyMap<string, number>;

/** What Lambda does with a chain that runs a function too often: the function's RecursiveLoop. */
export type RecursiveLoop = "Allow" | "Terminate";

/**
 * How often a chain may run a function that does not allow loops
 * ("Use Lambda recursive loop detection to prevent infinite loops", AWS Lambda Developer Guide).
 */
const MAX_RUNS = 16;

/** RecursiveLoop of the stack's functions. A test compares it with the template. */
export const STACK_RECURSIVE_LOOP: Readonly<Record<string, RecursiveLoop>> = {
  provision: "Allow",
  lifecycle: "Allow",
  disruption: "Allow",
  catalog: "Allow",
};

/** Lambda does not run the function: the chain that the message belongs to has run it too often. */
class RecursiveInvocationError extends Error {
  override readonly name = "RecursiveInvocationError";
}

/** The chains of invocations of a stack. */
export interface Chains {
  /**
   * The lineage of an invocation for messages of these lineages: of each function the greatest count, because AWS does
   * not say whose counts a batch has. Throws RecursiveInvocationError when Lambda stops the chain.
   */
  enter(fn: string, lineages: readonly Lineage[]): Lineage;
  /** The greatest count of each function so far. */
  readonly longest: ReadonlyMap<string, number>;
  /** How often Lambda has stopped a chain at each function. */
  readonly stopped: ReadonlyMap<string, number>;
}

export function chainsOf(recursiveLoop: Readonly<Record<string, RecursiveLoop>>): Chains {
  const longest = new Map<string, number>();
  const stopped = new Map<string, number>();
  return {
    longest,
    stopped,
    enter(fn, lineages) {
      const counts = new Map<string, number>();
      for (const lineage of lineages) for (const [name, count] of lineage) counts.set(name, Math.max(count, counts.get(name) ?? 0));
      const count = (counts.get(fn) ?? 0) + 1;
      if (count > MAX_RUNS && recursiveLoop[fn] !== "Allow") {
        stopped.set(fn, (stopped.get(fn) ?? 0) + 1);
        throw new RecursiveInvocationError(`Lambda has stopped a chain that ran ${fn} ${MAX_RUNS} times`);
      }
      longest.set(fn, Math.max(count, longest.get(fn) ?? 0));
      return counts.set(fn, count);
    },
  };
}
