/** What an operator sets for all of a cluster's disruption. */
export interface DisruptionSettings {
  readonly cluster: string;
  /** Replace spot nodes by cheaper spot nodes (Karpenter's gate SpotToSpotConsolidation). Off unless set. */
  readonly spotToSpotConsolidation?: boolean;
  /** Look after pools that keep a number of nodes (gate StaticCapacity). Off unless set. */
  readonly staticCapacity?: boolean;
}

/** How long a decision must hold before it is carried out (disruption.md §9). */
export const VALIDATION_DELAY_MS = 15_000;
