import type { DisruptionSettings } from "#core/disruption/settings.ts";
import type { Settings } from "../shared/cluster-deps.ts";

type Read = Omit<DisruptionSettings, "cluster">;

/**
 * A cluster's settings as disruption reads them. Does not compile when disruption reads one that no row of the table
 * gives.
 */
export function disruptionSettings(cluster: string, settings: Pick<Settings, keyof Read>): DisruptionSettings {
  return { ...settings, cluster };
}
