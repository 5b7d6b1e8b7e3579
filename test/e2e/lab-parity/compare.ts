import { type Outcome, QUESTIONS } from "./outcome.ts";

export interface Comparison {
  /** Lines for a reader; none when the real outcome is one of the lab's. */
  readonly differences: readonly string[];
  /** How many outcomes the draws of the lab lead to. */
  readonly outcomes: number;
}

/**
 * Compares the real outcome with those of the lab's seeds. kube-scheduler draws between nodes of the same score, so the
 * real outcome must be one of the lab's, not the first. Otherwise the questions are named whose answer no seed gives,
 * with the answer that is nearest.
 */
export function compared(real: Outcome, inLab: readonly Outcome[]): Comparison {
  const texts = new Set(inLab.map((outcome) => JSON.stringify(outcome)));
  if (texts.has(JSON.stringify(real))) return { differences: [], outcomes: texts.size };
  const differences = QUESTIONS.flatMap((question) => {
    const answers = inLab.map((outcome) => outcome[question]);
    if (answers.some((answer) => JSON.stringify(answer) === JSON.stringify(real[question]))) return [];
    const apart = (answer: readonly string[]): number => only(answer, real[question]).length + only(real[question], answer).length;
    const nearest = [...answers].sort((a, b) => apart(a) - apart(b))[0] ?? [];
    const [ours, theirs] = [only(nearest, real[question]), only(real[question], nearest)];
    if (ours.length + theirs.length === 0)
      return [`${question}, lab:  ${nearest.join("; ")}`, `${question}, real: ${real[question].join("; ")}`];
    return [...ours.map((line) => `${question}, lab:  ${line}`), ...theirs.map((line) => `${question}, real: ${line}`)];
  });
  return {
    differences: differences.length > 0 ? differences : ["each answer occurs in the lab, but not all of them with one seed"],
    outcomes: texts.size,
  };
}

const only = (lines: readonly string[], others: readonly string[]): readonly string[] => lines.filter((line) => !others.includes(line));
