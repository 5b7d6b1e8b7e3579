import assert from "node:assert/strict";

/** Asserts that a call is refused with this error name; the message may differ between targets. */
export async function refused(call: Promise<unknown>, name: string | readonly string[]): Promise<void> {
  const names = [name].flat();
  const outcome = await call.then(
    () => "no error",
    (error: unknown) => (error instanceof Error ? error.name : String(error)),
  );
  assert.ok(names.includes(outcome), `expected ${names.join(" or ")}, got ${outcome}`);
}

/** The value; throws when it is missing. */
export function present<T>(value: T | undefined | null, what: string): T {
  assert.ok(value !== undefined && value !== null, `${what} is missing`);
  return value;
}
