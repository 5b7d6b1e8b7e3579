/** Fields beside the message; the names are Karpenter's, because users search for them. */
export interface LogFields {
  readonly [field: string]: unknown;
  /** An object in each line, as Karpenter's: a log index takes one type under one key. */
  readonly NodePool?: { readonly name: string | undefined };
}

/** One JSON line per call. Callers never pass a secret. */
export interface Log {
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
  /** The same log with fields that every line carries (controller, NodeClaim, …). */
  with(fields: LogFields): Log;
}
