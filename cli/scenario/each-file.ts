import { sentenceOf } from "#terminal/input-error.ts";

/** What a command says of one scenario file. */
export interface FileAnswer {
  /** Printed as JSON. */
  readonly plan: object;
  /** The same for people. */
  readonly text: () => string;
}

/**
 * The output for some scenario files, in parts that are printed as they are made. One file: its plan as JSON on several
 * lines, or its text; throws InputError. Several files: for each a line of JSON, {"file", "plan"} or {"file", "error"},
 * or the text under the name of the file; a file that fails does not stop the others. Returns whether none has failed.
 */
export function* answerForEach(
  command: string,
  files: readonly string[],
  { explain, answer }: { readonly explain: boolean; readonly answer: (file: string) => FileAnswer },
): Generator<string, boolean> {
  const [only, ...others] = files;
  if (only !== undefined && others.length === 0) {
    const { plan, text } = answer(only);
    yield explain ? text() : `${JSON.stringify(plan, null, 2)}\n`;
    return true;
  }
  let isComplete = true;
  for (const file of files) {
    try {
      const { plan, text } = answer(file);
      yield explain ? `${file}:\n\n${text()}\n` : `${JSON.stringify({ file, plan })}\n`;
    } catch (error) {
      isComplete = false;
      const sentence = sentenceOf(error, command);
      yield explain ? `${file}:\n\n${sentence}\n\n` : `${JSON.stringify({ file, error: sentence })}\n`;
    }
  }
  return isComplete;
}
