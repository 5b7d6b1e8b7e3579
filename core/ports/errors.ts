/** What a remote call can come to that the caller may decide about. Adapters turn their SDK's errors into these and let all others through. */

/** The thing was changed or made by somebody else since it was read. Read again. */
export class ConflictError extends Error {
  override readonly name = "ConflictError";
}

/** There is no such thing. */
export class NotFoundError extends Error {
  override readonly name = "NotFoundError";
}

/** The other side asks for patience. */
export class ThrottledError extends Error {
  override readonly name = "ThrottledError";
}

/** The request can never work as it is: a person must mend something. The message says what. */
export class RefusedError extends Error {
  override readonly name = "RefusedError";
}
