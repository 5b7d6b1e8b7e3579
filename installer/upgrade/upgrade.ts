import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Deployed, readDeployed } from "#infra/deployed.ts";
import { addedStackName } from "#infra/role-names.ts";
import type { DeploymentSettings } from "#infra/settings.ts";
import { PROGRAM } from "#settings/program.ts";
import type { Answer, Print } from "#terminal/command.ts";
import { InputError } from "#terminal/input-error.ts";
import type { ChangeSet } from "../account/change-sets.ts";
import { fitEventSources } from "../account/event-sources.ts";
import type { UpgradePorts } from "../account/ports.ts";
import { type Serving, servingOf, tableOfRecords } from "../account/serving.ts";
import { isOurs, namesOf, type StackState } from "../account/stack-state.ts";
import { doctor } from "../checks/doctor.ts";
import { observe } from "../checks/observe-account.ts";
import { pauseLines } from "../checks/paused.ts";
import { checkAll } from "../checks/table.ts";
import { type CheckResult, checkLines } from "../checks/verdict.ts";
import { deployAddedStack, readDeployedCluster } from "../install/added-stack.ts";
import { reasons, settled } from "../install/deploy-stack.ts";
import { assetsOf, upload } from "../install/upload.ts";
import { changeLines, changeSummary } from "./change-set.ts";
import { checkDefinitions, finishCluster, prepareCluster } from "./clusters.ts";
import { schemaVerdict } from "./schema.ts";

export interface UpgradeOptions {
  /** The cluster whose checks are made first; the first one of the stack when absent. */
  readonly cluster?: string | undefined;
  readonly region: string;
  readonly stackName: string;
  /** Settings in place of the stack's own. */
  readonly settings?: DeploymentSettings | undefined;
  readonly yes: boolean;
  readonly dryRun: boolean;
}

/** One of this name is always this program's, so that what a killed run has left can be removed. */
const CHANGE_SET = "karpenter-serverless-upgrade";
const POLL_MS = 2_000;
const AS_IT_SHOULD_BE = /^(CREATE|UPDATE|UPDATE_ROLLBACK|IMPORT)_COMPLETE$/;

interface Found {
  readonly stack: StackState;
  readonly settings: DeploymentSettings;
  /** Those of the stack's own account: of its settings, and those that were added to it. */
  readonly clusters: readonly string[];
  readonly serving: Serving;
  /** Those of other accounts. */
  readonly others: readonly string[];
  readonly deployed: Deployed | undefined;
}

/**
 * Brings a stack and its clusters to this release: shows what changes, asks, applies CRDs, then the stack, then RBAC
 * and webhooks, and examines the result. Each step looks what is there, so that it is repeated as a whole after a kill.
 * Throws InputError where something is in the way.
 */
export async function upgrade(options: UpgradeOptions, ports: UpgradePorts, print: Print): Promise<Answer> {
  const { region, stackName, dryRun } = options;
  const found = await find(options, ports, print);
  const results = await check(options, found, ports);
  for (const line of checkLines(results)) print(line);
  await sayPaused(found, ports, print);
  const faults = results.filter(({ level }) => level === "fault").length;
  const unmet = `${faults === 1 ? "one check fails" : `${faults} checks fail`}, so nothing was changed; fix the items marked FAULT, then run the command again`;
  if (faults > 0) throw new InputError(unmet);
  const changes = await changeSet(found.settings, region, ports, print);
  for (const line of describe(stackName, changes)) print(line);
  if (dryRun || !(await isAgreed(options, ports))) {
    await ports.changeSets.remove(stackName, CHANGE_SET);
    if (dryRun) return { output: `nothing is changed; without --dry-run this upgrades ${stackName}, then ${found.clusters.join(", ")}\n` };
    throw new InputError("nothing was changed");
  }
  for (const cluster of found.clusters) {
    print(`applying the CRDs of cluster ${cluster}`);
    await prepareCluster(cluster, found.stack.outputs, ports, print);
  }
  const outputs = await execute(options, found.stack, changes, ports, print);
  await upgradeAdded(options, found, outputs, ports, print);
  for (const cluster of found.clusters) {
    print(`applying RBAC, FlowSchema and webhooks of cluster ${cluster}`);
    await finishCluster(cluster, outputs, ports, print);
  }
  return await examined(options, found, ports, print);
}

async function find({ cluster, stackName, settings: given }: UpgradeOptions, ports: UpgradePorts, print: Print): Promise<Found> {
  const stack = await settled(ports.stacks, { name: stackName, print, sleep: ports.sleep });
  const install = `run ${PROGRAM} install --cluster ${cluster ?? "NAME"}`;
  if (stack === undefined) throw new InputError(`there is no stack ${stackName}; give --stack, or ${install}`);
  if (!isOurs(stack)) throw new InputError(`${stackName} is another product's stack; name ours with --stack`);
  if (!AS_IT_SHOULD_BE.test(stack.status)) throw new InputError(`stack ${stackName} is ${stack.status}; ${install}, which repairs it`);
  const deployed = readDeployed(await ports.stacks.metadata(stackName), stackName);
  const settings = given ?? deployed?.settings;
  if (settings === undefined)
    throw new InputError(
      `stack ${stackName} was deployed by a release, or by SAM, that does not keep its settings; give them with --config FILE (clusters, sources, and what else is not as by default)`,
    );
  const own = settings.clusters.filter(({ account }) => account === undefined).map(({ name }) => name);
  const others = settings.clusters.filter(({ account }) => account !== undefined).map(({ name }) => name);
  const serving = await servingOf(stackName, stack, ports);
  const added = serving.records.filter(({ roles, state }) => roles !== undefined && state !== "left").map(({ name }) => name);
  const lost = namesOf(stack, "Clusters").filter((name) => !own.includes(name) && !others.includes(name));
  if (lost.length > 0)
    throw new InputError(`the settings do not name ${lost.join(", ")}, which stack ${stackName} serves; add it to clusters`);
  const left = new Set(serving.records.flatMap(({ name, state }) => (state === "left" ? [name] : [])));
  const reached = [...new Set([...own, ...added])].filter((name) => !left.has(name));
  if (cluster !== undefined && !reached.includes(cluster))
    throw new InputError(
      `stack ${stackName} serves ${[...reached, ...others].join(", ")} and not ${cluster}; name the one that does with --stack`,
    );
  const keepsRole = namesOf(stack, "ClustersWithNodeRole").length > 0;
  return {
    ...{ stack, deployed, others, serving },
    settings: { ...settings, stackName, ...(keepsRole && { createNodeRoles: true }) },
    clusters: cluster === undefined ? reached : [cluster, ...reached.filter((name) => name !== cluster)],
  };
}

/** Says which clusters are paused: an upgrade changes nothing of that. */
async function sayPaused({ stack, clusters }: Found, ports: UpgradePorts, print: Print): Promise<void> {
  for (const cluster of clusters)
    for (const line of await pauseLines(cluster, stack, ports)) print(`${line}; the upgrade leaves cluster ${cluster} paused`);
}

/** The checks of install that a deployed stack may fail too, then what only an upgrade can break. */

async function check({ region }: UpgradeOptions, found: Found, ports: UpgradePorts): Promise<readonly CheckResult[]> {
  const { settings, stack, deployed, clusters } = found;
  const results: CheckResult[] = [
    { name: "version", ...schemaVerdict({ version: stack.outputs["Version"], recordSchema: deployed?.recordSchema }) },
  ];
  for (const cluster of clusters) {
    const facts = await observe(cluster, region, settings, ports);
    const own = checkAll("upgrade", { ...facts, wanted: settings });
    results.push(...own.map((result) => ({ ...result, name: clusters.length > 1 ? `${result.name} of ${cluster}` : result.name })));
    if (own.every(({ level }) => level !== "fault")) results.push(await checkDefinitions(cluster, stack.outputs, ports));
  }
  return results;
}

/** Uploads the code, and lets CloudFormation compute what it would change; undefined when that is nothing. */
async function changeSet(settings: DeploymentSettings, region: string, ports: UpgradePorts, print: Print): Promise<ChangeSet | undefined> {
  const { changeSets, sleep } = ports;
  const { stackName } = settings;
  const { account } = await ports.account.caller();
  const bucket = ports.bucket(account);
  const outDir = mkdtempSync(join(tmpdir(), "upgrade-"));
  try {
    await ports.synthesize({ ...settings, region, assetsBucket: bucket.name }, outDir);
    const { assets, templateKey } = assetsOf(outDir, stackName);
    await bucket.ensure();
    print(`bucket ${bucket.name}: ${await upload(assets, bucket)} of ${assets.length} files uploaded`);
    await changeSets.remove(stackName, CHANGE_SET);
    // CloudFormation removes it in its own time.
    while ((await changeSets.describe(stackName, CHANGE_SET)) !== undefined) await sleep(POLL_MS);
    await changeSets.create(stackName, CHANGE_SET, bucket.url(templateKey));
  } finally {
    rmSync(outDir, { recursive: true });
  }
  for (;;) {
    const found = await changeSets.describe(stackName, CHANGE_SET);
    if (found?.status === "CREATE_COMPLETE") return found;
    if (found === undefined || found.status === "FAILED") {
      const reason = found?.reason ?? "it is gone";
      await changeSets.remove(stackName, CHANGE_SET);
      if (/didn't contain changes|No updates are to be performed/i.test(reason)) return undefined;
      throw new InputError(
        `CloudFormation cannot change stack ${stackName}: ${reason.replace(/\.$/, "")}; fix that, then run the command again`,
      );
    }
    await sleep(POLL_MS);
  }
}

function describe(stackName: string, found: ChangeSet | undefined): readonly string[] {
  if (found === undefined) return [`stack ${stackName} is as this release has it`];
  return [`stack ${stackName}: ${changeSummary(found.changes)}`, ...changeLines(found.changes).map((line) => `  ${line}`)];
}

async function isAgreed({ yes, stackName }: UpgradeOptions, { confirm, changeSets }: UpgradePorts): Promise<boolean> {
  if (yes) return true;
  const answer = await confirm("Upgrade the stack and its clusters?");
  if (answer !== undefined) return answer;
  await changeSets.remove(stackName, CHANGE_SET);
  throw new InputError("nothing was changed, because standard input is no terminal; give --yes");
}

async function execute(
  { stackName: name }: UpgradeOptions,
  before: StackState,
  changes: ChangeSet | undefined,
  { stacks, changeSets, sleep }: UpgradePorts,
  print: Print,
): Promise<StackState["outputs"]> {
  if (changes === undefined) return before.outputs;
  const seen = new Set((await stacks.events(name)).map(({ id }) => id));
  print(`updating stack ${name}`);
  await changeSets.execute(name, CHANGE_SET);
  // What was asked for begins a moment later.
  await sleep(POLL_MS);
  const after = await settled(stacks, { name, print, sleep }, seen);
  if (after?.status === "UPDATE_COMPLETE" || after?.status === "CREATE_COMPLETE") return after.outputs;
  throw new InputError(
    `stack ${name} ended as ${after?.status ?? "removed"}, so it is as before: ${await reasons(stacks, name)}; fix that, then run the command again`,
  );
}

/** Brings the small stacks of added clusters to this release, after the functions whose roles they name. */
async function upgradeAdded(
  { stackName }: UpgradeOptions,
  { settings, serving, stack }: Found,
  outputs: StackState["outputs"],
  ports: UpgradePorts,
  print: Print,
): Promise<void> {
  const table = tableOfRecords({ ...stack, outputs });
  if (table === undefined) return;
  const { account } = await ports.account.caller();
  const records = ports.clusterRecords(table);
  for (const record of serving.records) {
    const { name, roles: before } = record;
    const ownName = addedStackName(stackName, name);
    const own = before === undefined ? undefined : readDeployedCluster(await ports.stacks.metadata(ownName), ownName);
    if (before === undefined || own === undefined) continue;
    const roles = await deployAddedStack({ settings, ...own, outputs, account }, ports, print);
    if (roles.lifecycle !== before.lifecycle || roles.catalog !== before.catalog) await records.put({ ...record, roles });
  }
  if (serving.records.length > 0) await fitEventSources(await ports.stacks.resources(stackName), serving.names.length, ports.eventSources);
}

async function examined(
  { region, stackName }: UpgradeOptions,
  { clusters, others }: Found,
  ports: UpgradePorts,
  print: Print,
): Promise<Answer> {
  let isHealthy = true;
  for (const cluster of clusters) {
    const { output, isUsable = true } = await doctor({ cluster, region, stackName, json: false }, ports);
    print(output.trimEnd());
    isHealthy &&= isUsable;
  }
  const told = others.map(
    (name) =>
      `cluster ${name} is in another account: deploy its access stack again, and apply ${PROGRAM} manifests --cluster ${name} --stack ${stackName}`,
  );
  const after = isHealthy ? "" : "; fix the items marked FAULT above, then run doctor";
  return { output: `${[`${stackName} is upgraded${after}`, ...told].join("\n")}\n`, isUsable: isHealthy };
}
