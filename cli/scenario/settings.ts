import { ArgumentError } from "../../functions/adapters/command-line.ts";
import { settingsOf } from "../../functions/adapters/given-settings.ts";
import type { Settings } from "../../functions/adapters/setting-table.ts";

/** The settings that --setting gives. Throws ArgumentError, also for a setting that no decision reads. */
export function decisionSettingsOf(given: readonly string[]): Partial<Settings> {
  const { settings, unused } = settingsOf(given);
  if (unused.length > 0) throw new ArgumentError(`--setting ${unused[0]} changes no decision; leave it out`);
  return settings;
}
