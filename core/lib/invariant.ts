/**
 * A rule that a result of the core obeys, whatever it is made from: a plan places each pod once, a price is finite. A
 * result that breaks one is a fault of this program. Nothing is thrown, because the fault of one object must not stop
 * the rest: the object is left out, and its text is logged or shown where a refusal of that object is.
 */
export interface Violation {
  /** The rule, as a sentence. */
  readonly rule: string;
  /** What breaks it, as a phrase. */
  readonly detail: string;
}

export const broken = (rule: string, detail: string): Violation => ({ rule, detail });

/** The violation as one sentence for users. */
export const violationText = ({ rule, detail }: Violation): string =>
  `left out because of a fault in this program: ${rule}, but ${detail}; report it as a bug`;
