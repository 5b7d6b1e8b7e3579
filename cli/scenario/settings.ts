import { EACH, priceCapOf } from "#core/model/price-caps.ts";
import type { Snapshot } from "#core/model/snapshot.ts";
import { withClusterSchedule } from "#core/node-pool/schedule.ts";
import { scheduleOf } from "#functions/shared/schedule-of.ts";
import type { Settings } from "#settings/setting-table.ts";
import { ArgumentError } from "#terminal/command-line.ts";
import { settingsOf } from "#terminal/given-settings.ts";

/** The settings that --setting gives. Throws ArgumentError, also for a setting that no decision reads. */
export function decisionSettingsOf(given: readonly string[]): Partial<Settings> {
  const { settings, unused } = settingsOf(given);
  if (unused.length > 0) throw new ArgumentError(`--setting ${unused[0]} changes no decision; leave it out`);
  return settings;
}

/** A file does not name its cluster, so that only amounts and schedules for every cluster hold. */
const NAMELESS = "";

/**
 * The snapshot of a file under the settings that a snapshot holds: price caps, and the schedule of the cluster. Throws
 * ArgumentError where a setting is for clusters by name.
 */
export function underSettings(snapshot: Snapshot, settings: Partial<Settings>): Snapshot {
  const { maxPricePerHour = {}, stackMaxPricePerHour, sleepSchedule = {} } = settings;
  refuseNames("MAX_PRICE_PER_HOUR", maxPricePerHour, "an amount for every cluster, such as 20");
  refuseNames("SLEEP_SCHEDULE", sleepSchedule, "a schedule for every cluster");
  const priceCap = priceCapOf(NAMELESS, { maxPricePerHour, stackMaxPricePerHour }, 0) ?? snapshot.priceCap;
  const nodePools = withClusterSchedule(snapshot.nodePools, scheduleOf(NAMELESS, { sleepSchedule }));
  return { ...snapshot, nodePools, ...(priceCap && { priceCap }) };
}

function refuseNames(setting: string, byCluster: Readonly<Record<string, unknown>>, instead: string): void {
  const named = Object.keys(byCluster).find((name) => name !== EACH);
  if (named !== undefined)
    throw new ArgumentError(`--setting ${setting} names the cluster ${named}, and a file does not say whose it is; give ${instead}`);
}
