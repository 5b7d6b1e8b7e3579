/** A part of a cluster's history. Times in ms since the epoch. */
export interface HistoryRange {
  /** A table is asked for 1,000 days before `until` at most (core/history/keys.ts), whatever this says. */
  readonly since: number;
  /** Exclusive: a moment after now at the latest. */
  readonly until: number;
  /**
   * The subject, as `subjectOf` names it: "nodeclaim/NAME", "node/NAME", "command/ID" or "pod/NAMESPACE"; all subjects
   * that begin with it where it ends with "/".
   */
  readonly about?: string;
}
