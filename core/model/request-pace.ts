/**
 * How much of one of EC2's buckets of requests the functions of a stack have used, as the table keeps it. One for each
 * account, region and action.
 */
export interface RequestPace {
  /** 0 for what was never written; each write adds one. */
  readonly version: number;
  /** Requests that may be made at once, as of `countedAt`; below 0 when some were promised that must still wait. */
  readonly tokens: number;
  /** The clock of the function that wrote last, ms since the epoch. */
  readonly countedAt: number;
  /** The share of EC2's documented bucket that was used at `sharedAt`; it has grown since. */
  readonly share: number;
  /** When EC2 throttled last, ms since the epoch; 0 for never. */
  readonly sharedAt: number;
  /** Callers that were sent away are due again at times up to this one, ms since the epoch. */
  readonly toldUntil: number;
}

const numberOr = (value: unknown, otherwise: number): number => (typeof value === "number" && Number.isFinite(value) ? value : otherwise);

/** The state as it was stored. A damaged one is read as a bucket that has filled since; undefined without a version. */
export function readRequestPace(value: unknown): RequestPace | undefined {
  const stored = (value ?? {}) as Readonly<Record<string, unknown>>;
  const version = numberOr(stored["version"], 0);
  if (version < 1) return undefined;
  return {
    version,
    ...{ tokens: numberOr(stored["tokens"], 0), countedAt: numberOr(stored["countedAt"], 0) },
    ...{ share: numberOr(stored["share"], 1), sharedAt: numberOr(stored["sharedAt"], 0) },
    toldUntil: numberOr(stored["toldUntil"], 0),
  };
}
