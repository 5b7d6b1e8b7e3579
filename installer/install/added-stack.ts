// The small stack of a cluster that is added to a stack that runs.
// In: the settings of the functions' stack, its outputs, and the cluster. Out: the small stack as this release makes
// it, and its outputs. The functions' stack is only read.

import { createHash } from "node:crypto";
import { isJsonObject } from "#core/lib/json.ts";
import type { ClusterRoles } from "#core/model/cluster-record.ts";
import type { AddedCluster } from "#infra/added-cluster-stack.ts";
import { DEPLOYED } from "#infra/deployed.ts";
import { FUNCTION_NAMES, type FunctionName } from "#infra/functions.ts";
import { addedStackName } from "#infra/role-names.ts";
import { type ClusterSettings, type DeploymentSettings, parseSettings } from "#infra/settings.ts";
import { InputError } from "#terminal/input-error.ts";
import type { InstallPorts } from "../account/ports.ts";
import type { StackState } from "../account/stack-state.ts";
import { deployStack } from "./deploy-stack.ts";

interface AddedStackOptions {
  /** Those of the functions' stack. */
  readonly settings: DeploymentSettings;
  readonly cluster: ClusterSettings;
  readonly createNodeRoles: boolean;
  /** Of the functions' stack. */
  readonly outputs: StackState["outputs"];
  readonly account: string;
}

/** Whether a stack is the small one of a cluster; one that was never whole has no outputs. */
export const isAddedStack = ({ outputs, status }: StackState, stackName: string, cluster: string): boolean =>
  (outputs["ServedBy"] === stackName && outputs["Cluster"] === cluster) || !/^(CREATE|UPDATE|UPDATE_ROLLBACK)_COMPLETE$/.test(status);

/** Creates it, or brings it to this release, from whatever an earlier attempt has left. Returns the roles in it. */
export async function deployAddedStack(
  { settings, cluster, createNodeRoles, outputs, account }: AddedStackOptions,
  ports: InstallPorts,
  print: (line: string) => void,
): Promise<ClusterRoles> {
  const { AuditArn: auditArn } = outputs;
  const functionRoles = Object.fromEntries(
    FUNCTION_NAMES.flatMap((name) => {
      const arn = outputs[`${name.charAt(0).toUpperCase()}${name.slice(1)}RoleArn`];
      return arn === undefined ? [] : [[name, arn] as const];
    }),
  ) as Partial<Record<FunctionName, string>>;
  const added: AddedCluster = { settings, cluster, createNodeRoles, functionRoles, ...(auditArn !== undefined && { auditArn }) };
  const template = await ports.synthesizeAdded(added);
  const bucket = ports.bucket(account);
  const key = `${createHash("sha256").update(template).digest("hex")}.template.json`;
  await bucket.ensure();
  if (!(await bucket.has(key))) await bucket.put(key, new TextEncoder().encode(template));
  const name = addedStackName(settings.stackName, cluster.name);
  const refuse = (found: StackState | undefined): void => {
    if (found !== undefined && !isAddedStack(found, settings.stackName, cluster.name))
      throw new InputError(`stack ${name} is not the one that ${settings.stackName} has for cluster ${cluster.name}; rename or remove it`);
  };
  const made = await deployStack(ports.stacks, { name, templateUrl: bucket.url(key), refuse, print, sleep: ports.sleep });
  const { LifecycleRoleArn: lifecycle, CatalogRoleArn: catalog } = made;
  if (lifecycle === undefined || catalog === undefined)
    throw new InputError(`stack ${name} does not say its roles; remove it, then run this again`);
  return { lifecycle, catalog };
}

/** What the small stack of a cluster was deployed with. */
interface DeployedCluster {
  readonly cluster: ClusterSettings;
  readonly createNodeRoles: boolean;
}

/** Reads it from the Metadata of the template; undefined where there is none. */
export function readDeployedCluster(metadata: Readonly<Record<string, unknown>>, stack: string): DeployedCluster | undefined {
  const found = metadata[DEPLOYED];
  if (!isJsonObject(found) || !isJsonObject(found["cluster"])) return undefined;
  const [cluster] = parseSettings({ clusters: [found["cluster"]] }, `what stack ${stack} was deployed with`, () => {}).clusters;
  return cluster && { cluster, createNodeRoles: found["createNodeRoles"] === true };
}
