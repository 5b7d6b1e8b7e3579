import { type DeploymentSettings, hasFunctionUrls } from "#infra/settings.ts";
import { settingsOf } from "#infra/synthesis.ts";
import { InputError } from "#terminal/input-error.ts";

/** The words of `install` that are settings. */
interface Given {
  readonly cluster: string;
  readonly config?: string | undefined;
  readonly stack?: string | undefined;
  readonly sources?: string | undefined;
  readonly "public-url"?: string | undefined;
  readonly admission: boolean;
  readonly "create-node-role": boolean;
}

/**
 * The settings of a deployment for one cluster, or those of the file, which must name the cluster. Where the region has
 * no function URLs, API servers call API Gateway, unless something else is asked for. Throws one sentence.
 */
export function settingsFor(given: Given, region: string): DeploymentSettings {
  const { cluster, config, stack, sources, "public-url": publicUrl, admission, "create-node-role": createNodeRole } = given;
  if (config !== undefined && sources !== undefined)
    throw new InputError("--sources is not read with --config; write sources into the settings file");
  const values = { stack, admission, "create-node-roles": createNodeRole, ...(region !== "" && { region }) };
  if (config !== undefined) {
    const { settings } = settingsOf({ ...values, config, "public-url": publicUrl });
    if (settings.clusters.some(({ name }) => name === cluster)) return settings;
    throw new InputError(`${config} does not name cluster ${cluster}; add it to clusters`);
  }
  const fallback = hasFunctionUrls(region) ? undefined : "apiGateway";
  return settingsOf({ ...values, clusters: cluster, sources, "public-url": publicUrl ?? fallback }).settings;
}
