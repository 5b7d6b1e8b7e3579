/** Input that cannot be used. The message is one sentence: what, where, and how to fix it. */
export class BadInput extends Error {
  override readonly name = "BadInput";
}

/** Ends a failed command: exit code 2 and a sentence for bad input (and a bad command line), 1 for anything else. */
export function endWith(error: unknown, usage: string): void {
  const badArguments = error instanceof Error && "code" in error && String(error.code).startsWith("ERR_PARSE_ARGS");
  const message = error instanceof Error ? error.message : String(error);
  console.error(badArguments ? `${(message.split(/\.\s/)[0] ?? "").replace(/\.$/, "")}; usage: ${usage}` : message);
  process.exitCode = badArguments || error instanceof BadInput ? 2 : 1;
}
