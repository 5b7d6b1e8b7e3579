import type { Pause } from "./pause.ts";

/** What every entry has. */
export interface Entry {
  readonly cluster: string;
  /** When it was decided or seen, ms since the epoch. */
  readonly at: number;
}

/** Voluntary disruption, launches or both were paused. */
export interface Paused extends Entry {
  readonly type: "Paused";
  readonly pause: Pause;
}

/** A pause was taken back. One whose time is over ends without an entry. */
export interface Resumed extends Entry {
  readonly type: "Resumed";
  readonly source: Pause["source"];
  /** An AWS identity; "" for a ConfigMap that was deleted. */
  readonly by: string;
  /** When the pause began, ms. */
  readonly pausedAt: number;
}

/** A reason of disruption, of pods that are worse after it: what it is held for. */
interface CircuitEntry extends Entry {
  /** "NodePool/NAME" or "EC2NodeClass/NAME". */
  readonly scope: string;
  readonly reason: string;
  /** NodePools whose pods moved. */
  readonly nodePools: readonly string[];
  /** Until when it is, or was, held at the latest, ms. */
  readonly until: number;
}

/** The circuit breaker holds a reason. */
export interface CircuitOpened extends CircuitEntry {
  readonly type: "CircuitOpened";
  readonly why: string;
}

/** The circuit breaker holds a reason no longer, because pods are better, or something was changed or reset. */
export interface CircuitClosed extends CircuitEntry {
  readonly type: "CircuitClosed";
}
