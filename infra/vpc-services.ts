import { FUNCTIONS, type FunctionName, isMade } from "./functions.ts";
import { WITH_ADDED_ROLES } from "./policies.ts";
import type { DeploymentSettings } from "./settings.ts";

/** Services of AWS as the names of their VPC endpoints end, and the functions in the VPC that call them. */
type ServicesInVpc = ReadonlyMap<string, readonly FunctionName[]>;

type Calls = (name: FunctionName, settings: DeploymentSettings, hasAdded: boolean) => boolean;

/**
 * Which function calls what (functions/wiring, functions/NAME/handler.ts). Lambda itself writes logs and reads queues.
 * IAM and the Price List have no endpoint in most regions, and are not called with ISOLATED_VPC.
 */
const CALLS: Readonly<Record<string, Calls>> = {
  dynamodb: () => true,
  sqs: (name) => FUNCTIONS[name].sends.length > 0,
  eks: () => true,
  ec2: (name) => name === "lifecycle" || name === "catalog",
  ssm: (name) => name === "catalog",
  // Roles in other accounts, and those of clusters that were added.
  sts: (name, { clusters }, hasAdded) =>
    clusters.some(({ account }) => account !== undefined) || (hasAdded && WITH_ADDED_ROLES.some((one) => one === name)),
  events: (name, { eventBus }) => FUNCTIONS[name].announces && eventBus !== undefined,
  // The token of its URL.
  secretsmanager: (name) => name === "metrics",
  "arc-zonal-shift": (name, { settings }) => name === "catalog" && settings["ENABLE_ZONAL_SHIFT"] === "true",
};

/**
 * What the functions that a deployment puts into a VPC call.
 * @param hasAdded whether clusters were added to the stack since
 */
export function servicesInVpc(settings: DeploymentSettings, hasAdded = false): ServicesInVpc {
  const inVpc = (Object.keys(FUNCTIONS) as FunctionName[]).filter((name) => FUNCTIONS[name].inClusters && isMade(name, settings));
  const called = Object.entries(CALLS).map(
    ([service, calls]) => [service, inVpc.filter((name) => calls(name, settings, hasAdded))] as const,
  );
  return new Map(called.filter(([, names]) => names.length > 0));
}

/** The interface endpoints that a VPC without a way out needs. The table has a gateway endpoint, which is free. */
export const interfaceEndpoints = (settings: DeploymentSettings): readonly string[] =>
  [...servicesInVpc(settings).keys()].filter((service) => service !== "dynamodb");
