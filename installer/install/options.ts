import type { DeploymentSettings } from "#infra/settings.ts";

export interface InstallOptions {
  readonly cluster: string;
  readonly region: string;
  readonly settings: DeploymentSettings;
  /** Whether the person has said by which way wake-ups come; otherwise the first that works is taken. */
  readonly hasEndpointOption: boolean;
  /** Whether the cluster's network gets its tags where nothing has them. */
  readonly tagNetwork: boolean;
  readonly withDefaultPool: boolean;
  readonly dryRun: boolean;
}
