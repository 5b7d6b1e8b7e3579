import { parse } from "yaml";
import { nearest } from "#core/lib/nearest.ts";
import { ConfigError, parseConfig } from "#settings/config.ts";
import { DEFAULT_GATES, SETTINGS, type SettingName, type Settings } from "#settings/setting-table.ts";
import { ArgumentError } from "./command-line.ts";

/** Settings of a command line, as far as they are given. */
interface GivenSettings {
  readonly settings: Partial<Settings>;
  /** Names of given settings that no decision reads. */
  readonly unused: readonly SettingName[];
}

/**
 * Reads "NAME=VALUE" for any row of the table of settings, with the checks and sentences of a deployment. Of
 * FEATURE_GATES only the gates that the value names are returned. Throws ArgumentError.
 *
 *     settingsOf(["FEATURE_GATES=SpotToSpotConsolidation=true"]).settings; // { spotToSpotConsolidation: true }
 */
export function settingsOf(given: readonly string[]): GivenSettings {
  const texts = new Map<SettingName, string>();
  for (const text of given) {
    const [, word, value] = /^([^=]+)=(.*)$/s.exec(text) ?? [];
    if (word === undefined || value === undefined) throw new ArgumentError(`--setting takes NAME=VALUE, not "${text}"`);
    const name = settingName(word);
    if (texts.has(name)) throw new ArgumentError(`--setting ${name} is given twice; leave one of them out`);
    texts.set(name, name === "SCHEDULER_CONFIG" ? asJson(value) : value);
  }
  const all: Readonly<Record<string, unknown>> = { ...parsed(Object.fromEntries(texts)) };
  const names = [...texts].flatMap(([name, text]) => (name === "FEATURE_GATES" ? gatesIn(text) : [SETTINGS[name].as]));
  return {
    settings: Object.fromEntries(names.filter((name) => Object.hasOwn(all, name)).map((name) => [name, all[name]])),
    unused: [...texts.keys()].filter((name) => name !== "FEATURE_GATES" && SETTINGS[name].readBy !== "decisions"),
  };
}

/** A deployment takes this setting in YAML too, and its functions read JSON. */
function asJson(yaml: string): string {
  try {
    return yaml === "" ? "" : JSON.stringify(parse(yaml));
  } catch {
    throw new ArgumentError("--setting SCHEDULER_CONFIG: is neither YAML nor JSON; give the text of a KubeSchedulerConfiguration");
  }
}

function settingName(word: string): SettingName {
  const names = Object.keys(SETTINGS) as SettingName[];
  const found = names.find((name) => name === word);
  if (found !== undefined) return found;
  const near = nearest(word, names);
  throw new ArgumentError(
    `--setting: there is no setting ${word}; ${near === undefined ? `use one of ${names.join(", ")}` : `did you mean ${near}?`}`,
  );
}

function parsed(environment: Readonly<Record<string, string>>): Settings {
  try {
    return parseConfig({ TABLE_NAME: "none", CLUSTERS: '[{"name":"none"}]', ...environment }).settings;
  } catch (error) {
    if (error instanceof ConfigError) throw new ArgumentError(`--setting ${error.message.replace(/\.$/, "")}`);
    throw error;
  }
}

/** The names in code of the gates that a list such as "NodeRepair=true" names. */
function gatesIn(text: string): readonly string[] {
  const named = text.split(",").map((part) => part.split("=")[0]?.trim() ?? "");
  return Object.keys(DEFAULT_GATES)
    .filter((gate) => named.includes(gate))
    .map((gate) => gate.charAt(0).toLowerCase() + gate.slice(1));
}
