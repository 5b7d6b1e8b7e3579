import type { DisruptionSettings } from "../../core/disruption/settings.ts";
import type { Settings } from "../shared/cluster-deps.ts";

/** What of a cluster's settings disruption is decided by. */
export function disruptionSettings(cluster: string, settings: Settings): DisruptionSettings {
  const { spotToSpotConsolidation, staticCapacity, consolidationHorizonMs: horizonMs, podMoveCost } = settings;
  return { cluster, spotToSpotConsolidation, staticCapacity, horizonMs, podMoveCost };
}
