import { parseConfig } from "#settings/config.ts";
import type { Settings } from "../shared/cluster-deps.ts";

/** The settings where an operator has given none: for the lab, the command line and tests. */
export const DEFAULT_SETTINGS: Settings = parseConfig({ TABLE_NAME: "none", CLUSTERS: '[{"name":"none"}]' }).settings;
