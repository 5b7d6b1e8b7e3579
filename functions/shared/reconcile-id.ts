import type { Log } from "#core/ports/log.ts";

export interface ReconcileIds {
  /**
   * A new id for each wake-up, sweep and notice: the field `reconcileID` of its log lines. Without it they have none.
   */
  readonly newReconcileId?: () => string;
}

/** The log with a new `reconcileID`, by which the lines of one run are found among those of others. */
export function withReconcileId(log: Log, { newReconcileId }: ReconcileIds): Log {
  return newReconcileId === undefined ? log : log.with({ reconcileID: newReconcileId() });
}
