/** What a pause holds: ends and evictions that the autoscaler decides on, or machines that it buys. */
export type PauseScope = "disruption" | "launches";

/** One order to hold. Those of the table and of the ConfigMap add up. Times in ms since the epoch. */
export interface Pause {
  readonly source: "table" | "ConfigMap";
  /** Both when absent. */
  readonly only?: PauseScope;
  readonly at: number;
  /** It ends by itself then. */
  readonly until?: number;
  /** An AWS identity; of a ConfigMap what it says itself. */
  readonly by: string;
  readonly reason: string;
  /** What cannot be read of it. Such a part holds as much as it may: both scopes, without an end. */
  readonly problem?: string;
}
