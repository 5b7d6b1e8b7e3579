/** What is wrong with an input or a command line, in one sentence that says where and how to fix it. */
export class InputError extends Error {}

/**
 * What is wrong with an input of a command, in one sentence. The checks of an input do not know every field of the API,
 * so that a field of another shape can fail anywhere.
 */
export function sentenceOf(error: unknown, command: string | undefined): string {
  const what = oneLine(error instanceof Error ? error.message : String(error));
  if (error instanceof InputError) return what;
  return `${command} failed: ${what}; either a field has a shape that the Kubernetes API refuses, or this is a bug: report it with the input`;
}

/** A sentence may quote the input, and a user's text may be long, or hold lines and control characters. */
const MAX_LENGTH = 1_000;

function oneLine(sentence: string): string {
  const line = sentence.replaceAll(/[\s\p{Cc}\p{Cs}]+/gu, " ").trim();
  return line.length > MAX_LENGTH ? `${line.slice(0, MAX_LENGTH - 300)} … ${line.slice(-300)}` : line;
}
