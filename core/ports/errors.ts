/**
 * Outcomes of a remote call that the caller may decide about. Adapters turn the errors of their SDK into these and
 * rethrow all others.
 */

/** Another writer changed or created the object since it was read. Read it again. */
export class ConflictError extends Error {
  override readonly name = "ConflictError";
}

/** The object does not exist. */
export class NotFoundError extends Error {
  override readonly name = "NotFoundError";
}

/** The service asks the caller to slow down. */
export class ThrottledError extends Error {
  override readonly name = "ThrottledError";
  /** After how many ms the call may be made again, where that is known; then its caller need not wait for it. */
  declare readonly retryAfterMs?: number;

  constructor(message: string, { retryAfterMs, ...options }: ErrorOptions & { readonly retryAfterMs?: number } = {}) {
    super(message, options);
    if (retryAfterMs !== undefined) this.retryAfterMs = retryAfterMs;
  }
}

/** The request can never succeed as it is: a person must change something. The message says what. */
export class RefusedError extends Error {
  override readonly name = "RefusedError";
}

/** A record that another version wrote, or that is damaged. It is left as it is. */
export class UnreadableRecordError extends Error {
  override readonly name = "UnreadableRecordError";
}
