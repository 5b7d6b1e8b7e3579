import type { CostSettings } from "../model/prices.ts";

/** The setting DISRUPTION_RATE: a share of the cluster's nodes, and the time, ms, in which so many may be ended. */
export interface RateSetting {
  readonly share: number;
  readonly windowMs: number;
}

/** What an operator sets for all disruption in a cluster; docs/settings.md names the environment variables. */
export interface DisruptionSettings extends CostSettings {
  readonly cluster: string;
  /** Replace spot nodes by cheaper spot nodes (Karpenter's feature gate SpotToSpotConsolidation). False unless set. */
  readonly spotToSpotConsolidation?: boolean;
  /**
   * Payback horizon, ms: savings within this time must be at least the disruption cost in USD (podMoveCost).
   * Undefined means no such bound, as in Karpenter.
   */
  readonly horizonMs?: number | undefined;
  /** USD that disrupting one node, or moving one pod of eviction cost 1, counts as. 0.001 unless set. */
  readonly podMoveCost?: number;
  /** How many nodes whose pods must move may be ended in a window, over all NodePools. Undefined means no limit. */
  readonly disruptionRate?: RateSetting | undefined;
  /** Replace nodes that stay unhealthy (Karpenter's feature gate NodeRepair). False unless set. */
  readonly nodeRepair?: boolean;
  /** The lifecycle repairs nodes by force, as before Karpenter 1.15. False unless set. */
  readonly legacyNodeRepair?: boolean;
  /** Faults that a reboot clears are repaired by one (Karpenter's gate RebootForRepair). False unless set. */
  readonly rebootForRepair?: boolean;
  /** An unhealthy node goes before its replacement where there is no room for both. False unless set. */
  readonly terminateFirstRepair?: boolean;
  /** A drifted node goes before its replacement where there is no room for both. False unless set. */
  readonly terminateFirstDrift?: boolean;
  /** Reconcile NodePools with `replicas` (Karpenter's feature gate StaticCapacity). False unless set. */
  readonly staticCapacity?: boolean;
}

/**
 * How long a decision waits before it is validated and executed, ms: pods that come or go in between invalidate it
 * (karpenter: pkg/controllers/disruption/consolidation.go, commandValidationDelay).
 */
export const VALIDATION_DELAY_MS = 15_000;
