import { UnreadableRecordError } from "#core/ports/errors.ts";
import type { Log } from "#core/ports/log.ts";
import type { NodeClaimStore } from "#core/ports/node-claim-store.ts";

interface DocumentReading<T> {
  readonly name: string;
  /** What the document holds, as the subject of a sentence. */
  readonly what: string;
  /** Throws, or returns undefined, when the bytes are not such a document. */
  readonly parse: (bytes: Uint8Array) => T | undefined;
}

/**
 * A document of the table; undefined when there is none. One that is damaged counts as absent until its writer puts it
 * again, and is told. Errors of the table itself are thrown: nothing is known then.
 */
export async function readDocument<T>(
  { store, log }: { readonly store: Pick<NodeClaimStore, "getDocument">; readonly log?: Log },
  { name, what, parse }: DocumentReading<T>,
): Promise<{ readonly value: T; readonly version: string } | undefined> {
  try {
    const document = await store.getDocument(name);
    if (document === undefined) return undefined;
    const value = attempt(parse, document.bytes);
    if (value !== undefined) return { value, version: document.version };
  } catch (error) {
    if (!(error instanceof UnreadableRecordError)) throw error;
  }
  log?.error(`${what} cannot be read, and counts as absent until it is written again`, { document: name });
  return undefined;
}

function attempt<T>(parse: (bytes: Uint8Array) => T | undefined, bytes: Uint8Array): T | undefined {
  try {
    return parse(bytes);
  } catch {
    return undefined;
  }
}
