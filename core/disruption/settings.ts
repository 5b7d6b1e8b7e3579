/** What an operator sets for all of a cluster's disruption. */
export interface DisruptionSettings {
  readonly cluster: string;
  /** Replace spot nodes by cheaper spot nodes (Karpenter's gate SpotToSpotConsolidation). Off unless set. */
  readonly spotToSpotConsolidation?: boolean;
  /**
   * A saving must repay its disruption within this time, in milliseconds: what it saves in that time is at least what moving its pods counts as.
   * Undefined bounds nothing, as in Karpenter.
   */
  readonly horizonMs?: number | undefined;
  /** What moving one pod of eviction cost 1 counts as, and ending one node: USD. 0.001 unless set. */
  readonly podMoveCost?: number;
  /** Look after pools that keep a number of nodes (gate StaticCapacity). Off unless set. */
  readonly staticCapacity?: boolean;
}

/** How long a decision must hold before it is carried out (disruption.md §9). */
export const VALIDATION_DELAY_MS = 15_000;
