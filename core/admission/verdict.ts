/** The result of a review. */
export interface AdmissionVerdict {
  /** One sentence each; any problem refuses the object. */
  readonly problems: readonly string[];
  /** One sentence each; kubectl prints them, and the object is accepted. */
  readonly warnings: readonly string[];
}

/** Neither problems nor warnings. */
export const ACCEPTED: AdmissionVerdict = { problems: [], warnings: [] };

/** The problems and warnings of all verdicts. */
export function together(...verdicts: readonly AdmissionVerdict[]): AdmissionVerdict {
  return { problems: verdicts.flatMap(({ problems }) => problems), warnings: verdicts.flatMap(({ warnings }) => warnings) };
}

/**
 * The verdict on an update. A problem that the object had before becomes a warning, because rules that are newer than
 * the object must not prevent another correction of it.
 */
export function ofChange(now: AdmissionVerdict, before: AdmissionVerdict | undefined): AdmissionVerdict {
  const known = new Set(before?.problems);
  return {
    problems: now.problems.filter((problem) => !known.has(problem)),
    warnings: [...now.problems.filter((problem) => known.has(problem)), ...now.warnings],
  };
}
