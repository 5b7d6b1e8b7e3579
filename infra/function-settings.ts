import { parse } from "yaml";
import { ConfigError, parseConfig } from "#settings/config.ts";
import { SETTINGS } from "#settings/setting-table.ts";
import { BadInput } from "./end-with.ts";
import { EFFECTS } from "./setting-notes.ts";

/** Texts of the settings that an operator gives, by name. */
export type FunctionSettings = Readonly<Record<string, string>>;

/**
 * Checks settings and returns them as the functions read them. Throws one sentence about the first setting that is
 * wrong.
 */
export function functionSettings(given: FunctionSettings, source: string): Record<string, string> {
  const unknown = Object.keys(given).find((name) => !Object.hasOwn(SETTINGS, name) && !/^(AWS|NODE|POWERTOOLS|HTTPS?|NO)_/.test(name));
  if (unknown !== undefined)
    throw new BadInput(`${source}: settings has ${unknown}, which is none; there are ${Object.keys(EFFECTS).join(", ")}.`);
  const settings = withJson(given, source);
  try {
    asRead(settings);
  } catch (error) {
    // Thrown at synthesis, because the first start of a function may be long after the deployment.
    if (error instanceof ConfigError) throw new BadInput(`${source}: settings.${error.message}`);
    throw error;
  }
  return settings;
}

function asRead(settings: FunctionSettings) {
  return parseConfig({ ...settings, TABLE_NAME: "table", CLUSTERS: '[{"name":"any"}]' });
}

/**
 * Karpenter takes SCHEDULER_CONFIG in YAML; the functions read only JSON, because a reader of YAML would make each of
 * them start more slowly.
 */
function withJson(given: FunctionSettings, source: string): Record<string, string> {
  const { SCHEDULER_CONFIG: text = "" } = given;
  if (text === "") return { ...given };
  try {
    return { ...given, SCHEDULER_CONFIG: JSON.stringify(parse(text)) };
  } catch (error) {
    const [first] = (error instanceof Error ? error.message : String(error)).split("\n");
    throw new BadInput(`${source}: settings.SCHEDULER_CONFIG: is neither YAML nor JSON: ${first?.replace(/:$/, "")}.`);
  }
}
