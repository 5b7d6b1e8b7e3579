import type { Observed } from "./facts.ts";

/** "fault" stops an installation or an adoption, "note" is something to know; `text` is one sentence. */
export interface Verdict {
  readonly level: "ok" | "note" | "fault";
  readonly text: string;
}

/** A verdict and what it is about. */
export interface CheckResult extends Verdict {
  readonly name: string;
}

export const ok = (text: string): Verdict => ({ level: "ok", text });
export const note = (text: string): Verdict => ({ level: "note", text });
export const fault = (text: string): Verdict => ({ level: "fault", text });

/** The verdict on an answer. A missing answer is a note, because it stops only what needs it. */
export function of<T>(observed: Observed<T>, judge: (value: T) => Verdict): Verdict {
  return "value" in observed ? judge(observed.value) : note(`not checked: ${observed.error}`);
}

/** "ok     region: us-west-2" */
export function checkLines(results: readonly CheckResult[]): readonly string[] {
  const marks = { ok: "ok", note: "note", fault: "FAULT" } as const;
  return results.map(({ level, name, text }) => `${marks[level].padEnd(6)} ${name}: ${text}`);
}
