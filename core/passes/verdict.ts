/** What a check needs to know next: the name of a fact. */
export interface Read<Fact extends PropertyKey> {
  readonly next: "read";
  readonly fact: Fact;
}

/** The pass is not needed. */
export interface Skip {
  readonly next: "skip";
}

export const SKIP: Skip = { next: "skip" };

/** A check that needs one more fact. Facts are read one after the other, so that the cheapest question comes first. */
export const read = <Fact extends PropertyKey>(fact: Fact): Read<Fact> => ({ next: "read", fact });
