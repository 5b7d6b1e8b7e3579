import { type Config, parseConfig } from "../adapters/config.ts";
import type { Settings } from "../shared/cluster-deps.ts";

/** The part of a function's configuration that decisions depend on. */
export function settingsOf(config: Config): Settings {
  const { featureGates: gates } = config;
  return {
    vmMemoryOverheadPercent: config.vmMemoryOverheadPercent,
    reservedEnis: config.reservedEnis,
    preferencePolicy: config.preferencePolicy,
    minValuesPolicy: config.minValuesPolicy,
    spotToSpotConsolidation: gates.SpotToSpotConsolidation,
    capacityBuffer: gates.CapacityBuffer,
    defaultConstraints: config.schedulerConfig.defaultConstraints,
    nodeOverlay: gates.NodeOverlay,
    nodeRepair: gates.NodeRepair,
    reservedCapacity: gates.ReservedCapacity,
    staticCapacity: gates.StaticCapacity,
    consolidationHorizonMs: config.consolidationHorizonMs,
    podMoveCost: config.podMoveCost,
    isolatedVpc: config.isolatedVpc,
    zonalShift: config.zonalShift,
    amiRefreshMs: config.amiRefreshMs,
    subnetRefreshMs: config.subnetRefreshMs,
    batchIdleMs: config.batchIdleMs,
    batchMaxMs: config.batchMaxMs,
  };
}

/** What holds where nobody has set anything: for the lab, the command line and tests. */
export const DEFAULT_SETTINGS: Settings = settingsOf(parseConfig({ TABLE_NAME: "none", CLUSTERS: '[{"name":"none"}]' }));
