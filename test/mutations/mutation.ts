/** A rule broken by hand, and the tests that must notice. */
export interface Mutation {
  /** Short, unique in its area. */
  readonly name: string;
  /** The rule that is broken, as a person would say it. */
  readonly rule: string;
  /** Path from the root of the project. */
  readonly file: string;
  /** Text that stands exactly once in the file, and what takes its place. */
  readonly from: string;
  readonly to: string;
  /** Test files that should fail, paths from the root. */
  readonly tests: readonly string[];
}

/** What came of one mutation. Only "caught" is good. */
export type MutationResult =
  | { readonly kind: "caught"; readonly by: string }
  | { readonly kind: "survived" }
  /** The text is not in the file, or more than once: the list has fallen behind the code. */
  | { readonly kind: "not found"; readonly times: number }
  /** The tests did not run at all: nothing was learnt. */
  | { readonly kind: "no answer"; readonly why: string };

/** The file's content with the rule broken, or how often the text stands in it. */
export function mutated(content: string, { from, to }: Pick<Mutation, "from" | "to">): string | number {
  const times = content.split(from).length - 1;
  // Not `replace` with a text: "$" would mean something in it.
  return times === 1 ? content.replace(from, () => to) : times;
}
