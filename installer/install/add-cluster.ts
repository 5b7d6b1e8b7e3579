// A cluster is added to a stack that serves others.
// In: what is wanted, and what the stack is and has. Out: its record, its small stack and its manifests, in the order
// in which a run that is killed anywhere is repeated as a whole. The functions' stack is not updated, and other
// clusters are not touched.

import { isDeepStrictEqual } from "node:util";
import type { ClusterRecord } from "#core/model/cluster-record.ts";
import { ConflictError } from "#core/ports/errors.ts";
import { type Deployed, readDeployed } from "#infra/deployed.ts";
import { addedStackName } from "#infra/role-names.ts";
import { type ClusterSettings, type DeploymentSettings, parseSettings } from "#infra/settings.ts";
import { PROGRAM } from "#settings/program.ts";
import { SETTINGS } from "#settings/setting-table.ts";
import type { Print } from "#terminal/command.ts";
import { InputError } from "#terminal/input-error.ts";
import { fitEventSources } from "../account/event-sources.ts";
import type { InstallPorts } from "../account/ports.ts";
import { type Serving, servingOf, tableOfRecords } from "../account/serving.ts";
import { isOurs, namesOf, type StackState } from "../account/stack-state.ts";
import { type Facts, takesSubscription } from "../checks/facts.ts";
import { checkAll } from "../checks/table.ts";
import { type CheckResult, fault, ok, type Verdict } from "../checks/verdict.ts";
import { deployAddedStack, readDeployedCluster } from "./added-stack.ts";
import type { InstallOptions } from "./options.ts";

/** What was found of a stack to which a cluster is added. */
export interface Addition {
  readonly stack: StackState;
  readonly serving: Serving;
  /** What the functions' stack was deployed with; undefined where it does not say. */
  readonly deployed: Deployed | undefined;
  /** The small stack of an earlier run. */
  readonly own: StackState | undefined;
  readonly cluster: ClusterSettings;
  readonly createNodeRoles: boolean;
}

/**
 * Whether the cluster is to be added to a stack that serves others; undefined where the stack is made or updated for
 * it, as for a cluster that its settings name, or for all clusters of a settings file.
 */
export async function additionTo(options: InstallOptions, facts: Facts, ports: InstallPorts): Promise<Addition | undefined> {
  const { cluster: name, settings } = options;
  const stack = "value" in facts.stack ? facts.stack.value : undefined;
  if (stack === undefined || !isOurs(stack) || tableOfRecords(stack) === undefined) return undefined;
  const serving = await servingOf(settings.stackName, stack, ports);
  const isAboutAll = serving.named.every((one) => settings.clusters.some((wanted) => wanted.name === one));
  if (serving.named.length === 0 || serving.named.includes(name) || isAboutAll) return undefined;
  const deployed = readDeployed(await ports.stacks.metadata(settings.stackName), settings.stackName);
  const ownName = addedStackName(settings.stackName, name);
  const own = await ports.stacks.describe(ownName);
  const before = own && readDeployedCluster(await ports.stacks.metadata(ownName), ownName);
  const wanted = settings.clusters.find((one) => one.name === name) ?? { name, sources: [], auditPattern: "json" };
  const kept = before?.cluster.nodeRoles;
  const cluster: ClusterSettings = {
    ...wanted,
    ...(kept !== undefined && wanted.nodeRoles === undefined && { nodeRoles: kept }),
    sources: options.hasEndpointOption ? wanted.sources : (before?.cluster.sources ?? sourcesOf(stack, facts)),
  };
  // A role that the small stack has made stays in it, also when no option asks for it again: the nodes live by it.
  const hasMade = own !== undefined && namesOf(own, "ClustersWithNodeRole").includes(name);
  return { stack, serving, deployed, own, cluster, createNodeRoles: settings.createNodeRoles || hasMade };
}

/** The fastest way that the stack has a function for. */
function sourcesOf({ outputs }: StackState, facts: Facts): ClusterSettings["sources"] {
  if (outputs["NotifyUrl"] !== undefined) return ["notify", "sweep"];
  return outputs["AuditArn"] !== undefined && takesSubscription(facts) ? ["audit", "sweep"] : ["sweep"];
}

/** The checks of an installation, of which some are about the stack that is there. */
export function judgeAddition(facts: Facts, { settings, cluster: name }: InstallOptions, addition: Addition): readonly CheckResult[] {
  const { deployed, own, cluster, createNodeRoles } = addition;
  const all = { ...(deployed?.settings ?? settings), clusters: [cluster], createNodeRoles };
  const verdicts: Readonly<Record<string, Verdict>> = {
    stack: stackVerdict(settings, name, addition),
    "public URL": sourceVerdict(addition),
    "Lambda's limit": ok("as for the clusters that the stack serves"),
  };
  return checkAll("install", { ...facts, stack: { value: own }, wanted: all }).map((result) => ({ ...result, ...verdicts[result.name] }));
}

function stackVerdict(settings: DeploymentSettings, name: string, { stack, serving, deployed }: Addition): Verdict {
  const { stackName } = settings;
  if (deployed === undefined)
    return fault(
      `${stackName} was deployed by SAM, and does not keep its settings, so no cluster can be added to it; give --stack another name, or deploy it with ${name} in its settings file`,
    );
  if (!/^(CREATE|UPDATE|UPDATE_ROLLBACK)_COMPLETE$/.test(stack.status))
    return fault(
      `${stackName} is ${stack.status}; wait for its end, or repair it with install --cluster ${serving.named[0]}, then run this again`,
    );
  const strange = strangeKeys(settings, deployed.settings);
  if (strange.length > 0)
    return fault(
      `${strange.join(", ")} would not be what stack ${stackName} has for all of its clusters; leave it out, or change the stack first: ${PROGRAM} upgrade --cluster ${serving.named[0]} --config FILE; or give --stack another name`,
    );
  const others = serving.names.filter((one) => one !== name);
  return ok(
    `${stackName} serves ${others.join(", ") || "no cluster"}, version ${stack.outputs["Version"] ?? "unknown"}; ${name} is added to it, and nothing of the others is changed`,
  );
}

/** Settings of the whole stack that are asked for and are not those that it has. */
function strangeKeys(given: DeploymentSettings, deployed: DeploymentSettings): readonly string[] {
  const usual = parseSettings({ clusters: [{ name: "any" }] }, "defaults", () => {});
  const own = new Set(["stackName", "clusters", "createNodeRoles", "region", "assetsBucket", "settings"]);
  const keys = (Object.keys(given) as (keyof DeploymentSettings)[]).filter(
    (key) => !own.has(key) && !isDeepStrictEqual(given[key], usual[key]) && !isDeepStrictEqual(given[key], deployed[key]),
  );
  // What the functions do without a setting is as good as a setting that says it.
  const usualOf = new Map<string, string>(Object.entries(SETTINGS).map(([name, { fallback }]) => [name, fallback]));
  const settings = Object.entries(given.settings).flatMap(([name, value]) =>
    (deployed.settings[name] ?? usualOf.get(name)) === value ? [] : [`settings.${name}`],
  );
  return [...keys, ...settings];
}

function sourceVerdict({ stack: { outputs }, cluster: { name, sources } }: Addition): Verdict {
  const missing = (["notify", "audit"] as const).find(
    (source) => sources.includes(source) && outputs[source === "notify" ? "NotifyUrl" : "AuditArn"] === undefined,
  );
  if (missing !== undefined)
    return fault(
      `the stack has no function ${missing}, because no cluster of its settings has this source; give --sources sweep, or let the stack make it: ${PROGRAM} upgrade with a settings file in which one of its clusters has the source ${missing}`,
    );
  return ok(`${name} has the sources ${sources.join(", ")}`);
}

/** What a dry run says. */
export function additionPlan({ cluster, settings }: InstallOptions, { stack, own, createNodeRoles }: Addition): readonly string[] {
  const name = addedStackName(settings.stackName, cluster);
  return [
    `- write ${cluster} into the table of ${settings.stackName}, whose functions stay as they are (version ${stack.outputs["Version"] ?? "unknown"})`,
    own === undefined ? `- create stack ${name}` : `- update stack ${name} (${own.status})`,
    ...(createNodeRoles ? [`- make role KarpenterNodeRole-${cluster} and its access entry, as part of that stack`] : []),
  ];
}

/**
 * Adds the cluster. `applyManifests` is done when its roles are there, and before the functions look at it. Returns
 * when the functions may work for it, which is within a minute.
 */
export async function addCluster(
  { cluster: name, settings: { stackName } }: InstallOptions,
  { stack, serving, deployed, cluster, createNodeRoles }: Addition,
  account: string,
  { applyManifests, ports, print }: { readonly applyManifests: () => Promise<void>; readonly ports: InstallPorts; readonly print: Print },
): Promise<void> {
  const table = tableOfRecords(stack);
  if (deployed === undefined || table === undefined) throw new InputError(`no cluster can be added to stack ${stackName}`);
  const records = ports.clusterRecords(table);
  const write = async (record: ClusterRecord): Promise<ClusterRecord> => {
    try {
      return await records.put(record);
    } catch (error) {
      if (!(error instanceof ConflictError)) throw error;
      throw new InputError(`another run of install or uninstall is at work on cluster ${name}; wait for its end, then run this again`);
    }
  };
  const { logGroup, sources } = cluster;
  const facts = { name, sources, ...(logGroup !== undefined && { logGroup }) };
  const before = serving.records.find((record) => record.name === name);
  // From here on uninstall knows what to take away.
  const begun =
    before === undefined || before.state === "left" ? await write({ ...facts, state: "adding", version: before?.version ?? 0 }) : before;
  const { settings } = deployed;
  const roles = await deployAddedStack({ settings, cluster, createNodeRoles, outputs: stack.outputs, account }, ports, print);
  await applyManifests();
  const clusters = new Set([...serving.names, name]).size;
  const changed = await fitEventSources(await ports.stacks.resources(stackName), clusters, ports.eventSources);
  if (changed.length > 0) print(`queues ${changed.join(", ")} start as many functions at once as ${clusters} clusters need`);
  await write({ ...facts, roles, state: "served", version: begun.version });
  print(`wrote ${name} into the table of ${stackName}: its functions serve it within a minute`);
}
