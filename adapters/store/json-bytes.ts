/** A value as the bytes of a document of the table. */
export const jsonBytes = (value: unknown): Uint8Array => new TextEncoder().encode(JSON.stringify(value));

/** The value in the bytes of such a document. Throws SyntaxError when they hold none. */
export const jsonIn = (bytes: Uint8Array): unknown => JSON.parse(new TextDecoder().decode(bytes));
