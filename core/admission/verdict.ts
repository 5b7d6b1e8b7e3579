/** What admission says of an object. */
export interface Verdict {
  /** One sentence each; any of them refuses the object. */
  readonly problems: readonly string[];
  /** One sentence each; kubectl prints them, and the object is taken. */
  readonly warnings: readonly string[];
}

export const CONTENT: Verdict = { problems: [], warnings: [] };

/** All that several rules say. */
export function together(...verdicts: readonly Verdict[]): Verdict {
  return { problems: verdicts.flatMap(({ problems }) => problems), warnings: verdicts.flatMap(({ warnings }) => warnings) };
}

/**
 * What is wrong with a change. A fault that the object had before is only warned of: rules that came later than the object must not keep people
 * from mending something else in it.
 */
export function ofChange(now: Verdict, before: Verdict | undefined): Verdict {
  const known = new Set(before?.problems);
  return {
    problems: now.problems.filter((problem) => !known.has(problem)),
    warnings: [...now.problems.filter((problem) => known.has(problem)), ...now.warnings],
  };
}
