/** A change of the source that breaks one rule, and the tests that must fail because of it. */
export interface Mutation {
  /** Short, unique in its area. */
  readonly name: string;
  /** The rule that is broken, in one sentence. */
  readonly rule: string;
  /** Path from the root of the project. */
  readonly file: string;
  /** Text that stands exactly once in the file, and its replacement. */
  readonly from: string;
  readonly to: string;
  /** Test files that should fail, paths from the root. */
  readonly tests: readonly string[];
}

/** The result of one mutation. Only "caught" is good. */
export type MutationResult =
  | { readonly kind: "caught"; readonly by: string }
  | { readonly kind: "survived" }
  /** The text is not in the file, or stands there more than once: the list no longer fits the code. */
  | { readonly kind: "not found"; readonly times: number }
  /** The tests did not run, so that the result says nothing about the rule. */
  | { readonly kind: "no answer"; readonly why: string };

/** The file's content with the rule broken, or how often the text stands in it. */
export function mutated(content: string, { from, to }: Pick<Mutation, "from" | "to">): string | number {
  const times = content.split(from).length - 1;
  // `replace` with a string would interpret "$" in the replacement.
  return times === 1 ? content.replace(from, () => to) : times;
}
