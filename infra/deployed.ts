import { isJsonObject } from "#core/lib/json.ts";
import { GROUP_SCHEMA } from "#core/model/read-record.ts";
import { VERSION } from "#settings/version.ts";
import { BadInput } from "./end-with.ts";
import { type DeploymentSettings, parseSettings } from "./settings.ts";

/** What a stack says of itself in the Metadata of its template, for the release that upgrades it. */
export interface Deployed {
  readonly version: string;
  /** The version of the records that its functions write. */
  readonly recordSchema: number;
  readonly settings: DeploymentSettings;
}

/** The key in the template's Metadata. */
export const DEPLOYED = "karpenter-serverless";

export const deployedOf = (settings: DeploymentSettings): Deployed => ({ version: VERSION, recordSchema: GROUP_SCHEMA, settings });

/**
 * Reads it, with the defaults of this release for settings that the deployed one did not have; undefined for a stack of
 * a release that did not say. Throws BadInput where this release does not take a setting.
 */
export function readDeployed(metadata: Readonly<Record<string, unknown>>, stackName: string): Deployed | undefined {
  const found = metadata[DEPLOYED];
  if (!isJsonObject(found) || !isJsonObject(found["settings"])) return undefined;
  const { version, recordSchema, settings } = found;
  if (typeof version !== "string" || typeof recordSchema !== "number")
    throw new BadInput(`Metadata ${DEPLOYED} of stack ${stackName} has no version or no recordSchema; give --config FILE.`);
  return { version, recordSchema, settings: parseSettings(settings, `what stack ${stackName} was deployed with`, () => {}) };
}
