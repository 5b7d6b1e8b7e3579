/** Fields beside the message; names are those that users of Karpenter search for. */
export type LogFields = Readonly<Record<string, unknown>>;

/** One JSON line a call. Never given a secret. */
export interface Log {
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
  /** The same log with fields that every line carries (controller, NodeClaim, …). */
  with(fields: LogFields): Log;
}
