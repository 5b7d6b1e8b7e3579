import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ROOT } from "#infra/dist.ts";
import { manifests } from "#infra/manifests.ts";
import type { DeploymentSettings } from "#infra/settings.ts";
import type { Answer, Print } from "#terminal/command.ts";
import { InputError } from "#terminal/input-error.ts";
import { fitEventSources } from "../account/event-sources.ts";
import type { Bucket, InstallPorts } from "../account/ports.ts";
import { servingBy, tableOfRecords } from "../account/serving.ts";
import { namesOf, type StackState } from "../account/stack-state.ts";
import { type Facts, nodeRoleOf } from "../checks/facts.ts";
import { observe } from "../checks/observe-account.ts";
import { checkAll } from "../checks/table.ts";
import { checkLines, ok } from "../checks/verdict.ts";
import { type Addition, addCluster, additionPlan, additionTo, judgeAddition } from "./add-cluster.ts";
import { applyObjects, makeMissing, objectsOf, removeOutdated } from "./apply-manifests.ts";
import { deployStack, StackFailed } from "./deploy-stack.ts";
import { keepingEndpointOption, nextEndpointOption } from "./endpoint-options.ts";
import type { InstallOptions } from "./options.ts";
import { assetsOf, upload } from "./upload.ts";

/**
 * Installs into a cluster: checks, uploads the code, deploys the stack, and applies the manifests. Each step looks what
 * is there and does what is missing, so that an installation that was killed anywhere is repeated as a whole. Throws
 * InputError where a check fails or a step cannot be done.
 */
export async function install(options: InstallOptions, ports: InstallPorts, print: Print): Promise<Answer> {
  const { cluster, region, withDefaultPool, dryRun } = options;
  const facts = await observe(cluster, region, options.settings, ports);
  const given = keepingRole(options.settings, cluster, facts);
  const settings = options.hasEndpointOption ? given : keepingEndpointOption(given, cluster, facts);
  const untagged = options.tagNetwork ? untaggedOf(facts) : [];
  const addition = await additionTo({ ...options, settings: given }, facts, ports);
  const judged =
    addition === undefined
      ? checkAll("install", { ...facts, wanted: settings })
      : judgeAddition(facts, { ...options, settings: given }, addition);
  const results = judged.map((result) =>
    untagged.some(({ name }) => name === result.name) ? { ...result, ...ok(`--tag-network tags ${idsOf(untagged, result.name)}`) } : result,
  );
  for (const line of checkLines(results)) print(line);
  const faults = results.filter(({ level }) => level === "fault").length;
  const unmet = `${faults === 1 ? "one check fails" : `${faults} checks fail`}, so nothing was installed; fix the items marked FAULT, then run the command again`;
  if ("error" in facts.caller || (faults > 0 && !dryRun)) throw new InputError(unmet);
  if ("error" in facts.stack) throw new InputError(facts.stack.error);
  const bucket = ports.bucket(facts.caller.value.account);
  if (dryRun) {
    for (const line of plan({ ...options, settings }, bucket, facts.stack.value, untagged, addition)) print(line);
    return { output: "", isUsable: faults === 0, ...(faults > 0 && { messages: [unmet] }) };
  }
  for (const { name, ids } of untagged) {
    await ports.account.tagForDiscovery(ids, cluster);
    print(`tagged ${name} ${ids.join(", ")}: karpenter.sh/discovery=${cluster}`);
  }
  const applying = { api: ports.clusterApi(cluster), print, sleep: ports.sleep };
  const applyManifests = async (outputs: StackState["outputs"]): Promise<void> => {
    print(`applying CRDs, RBAC, FlowSchema and webhooks to cluster ${cluster}`);
    const objects = objectsOf(manifests({ cluster, ...(await webhooks(outputs, ports)) }));
    await applyObjects(objects, applying);
    await removeOutdated(objects, applying);
  };
  if (addition === undefined) {
    const outputs = await deployWithEndpointOption({ ...options, settings }, facts, bucket, ports, print);
    await applyManifests(outputs);
    await afterDeployment({ ...options, settings }, outputs, ports, print);
  } else {
    const { account } = facts.caller.value;
    const hasNotify = addition.cluster.sources.includes("notify");
    const { NotifyUrl: _url, ...withoutNotify } = addition.stack.outputs;
    const outputs = hasNotify ? addition.stack.outputs : withoutNotify;
    const doing = { applyManifests: () => applyManifests(outputs), ports, print };
    await addCluster({ ...options, settings: given }, addition, account, doing);
  }
  if (withDefaultPool) {
    print("making the default NodePool and EC2NodeClass");
    await makeMissing(defaultPool(cluster, addition === undefined ? settings : { clusters: [addition.cluster] }), applying);
  }
  return { output: `${farewell(cluster, withDefaultPool)}\n` };
}

/**
 * What was added to the stack needs of it after an update: the record of a cluster that has left ends, because the
 * stack serves the cluster again, and the queues keep the concurrency of all clusters.
 */
async function afterDeployment(
  { cluster, settings: { stackName, clusters } }: InstallOptions,
  outputs: StackState["outputs"],
  ports: InstallPorts,
  print: Print,
): Promise<void> {
  const table = tableOfRecords({ status: "", outputs });
  if (table === undefined) return;
  const records = ports.clusterRecords(table);
  const all = await records.list();
  if (all.some(({ name, roles }) => name === cluster && roles === undefined)) {
    await records.remove(cluster);
    print(`${cluster} is no longer marked as removed; the functions serve it again within a minute`);
  }
  const others = servingBy(
    clusters.map(({ name }) => name),
    all.filter(({ name }) => name !== cluster),
  );
  if (others.records.length > 0) await fitEventSources(await ports.stacks.resources(stackName), others.names.length, ports.eventSources);
}

/** A role that the stack has made stays in it, also when no option asks for it again: the nodes live by it. */
function keepingRole(settings: DeploymentSettings, cluster: string, { stack }: Facts): DeploymentSettings {
  const hasMade = "value" in stack && stack.value !== undefined && namesOf(stack.value, "ClustersWithNodeRole").includes(cluster);
  return hasMade ? { ...settings, createNodeRoles: true } : settings;
}

/** What has no tag for discovery, and what of the cluster's own network can get it. */
interface Untagged {
  /** As the check is named. */
  readonly name: "subnets" | "security groups";
  readonly ids: readonly string[];
}

function untaggedOf({ eks, subnets, securityGroups }: Facts): readonly Untagged[] {
  if (!("value" in eks)) return [];
  const { subnetIds = [], securityGroupId = "" } = eks.value;
  const all = [
    { name: "subnets", ids: subnetIds, count: subnets },
    { name: "security groups", ids: securityGroupId === "" ? [] : [securityGroupId], count: securityGroups },
  ] as const;
  return all.filter(({ ids, count }) => ids.length > 0 && "value" in count && count.value === 0);
}

const idsOf = (untagged: readonly Untagged[], name: string): string => untagged.find((one) => one.name === name)?.ids.join(", ") ?? "";

function plan(
  options: InstallOptions,
  bucket: Bucket,
  before: StackState | undefined,
  untagged: readonly Untagged[],
  addition: Addition | undefined,
): readonly string[] {
  const { cluster, settings, withDefaultPool } = options;
  const deploying =
    addition === undefined
      ? [
          `- make bucket ${bucket.name}, if there is none, and upload the functions' code to it`,
          before === undefined
            ? `- create stack ${settings.stackName}`
            : `- update stack ${settings.stackName} (${before.status}, version ${before.outputs["Version"] ?? "unknown"})`,
          ...(settings.createNodeRoles ? [`- make role KarpenterNodeRole-${cluster} and its access entry, as part of the stack`] : []),
        ]
      : additionPlan({ ...options, settings }, addition);
  return [
    "nothing is changed; without --dry-run this would",
    ...untagged.map(({ name, ids }) => `- tag ${name} ${ids.join(", ")}: karpenter.sh/discovery=${cluster}`),
    ...deploying,
    `- apply CRDs, RBAC, FlowSchema and webhooks to cluster ${cluster}`,
    ...(withDefaultPool ? ["- make NodePool default and EC2NodeClass default, where they are not there"] : []),
  ];
}

/** Deploys; where the account refuses the way in and no option names it, by the next one. */
async function deployWithEndpointOption(...[options, facts, ...others]: Parameters<typeof deploy>): Promise<StackState["outputs"]> {
  const [, , print] = others;
  for (let { settings } = options; ; ) {
    try {
      return await deploy({ ...options, settings }, facts, ...others);
    } catch (error) {
      const next =
        error instanceof StackFailed && !options.hasEndpointOption
          ? nextEndpointOption(settings, options.cluster, error.failed, facts)
          : undefined;
      if (next === undefined) throw error;
      print(next.why);
      settings = next.settings;
    }
  }
}

async function deploy(
  options: InstallOptions,
  facts: Facts,
  bucket: Bucket,
  ports: InstallPorts,
  print: Print,
): Promise<StackState["outputs"]> {
  const settings = { ...options.settings, assetsBucket: bucket.name };
  const outDir = mkdtempSync(join(tmpdir(), "install-"));
  try {
    await ports.synthesize(settings, outDir);
    const { assets, templateKey } = assetsOf(outDir, settings.stackName);
    await bucket.ensure();
    print(`bucket ${bucket.name}: ${await upload(assets, bucket)} of ${assets.length} files uploaded`);
    const { stackName: name } = settings;
    // What was under way when the checks were made may have ended as another's stack.
    const refuse = (value: StackState | undefined): void => {
      const stack = checkAll("install", { ...facts, stack: { value }, wanted: settings }).find((result) => result.name === "stack");
      if (stack?.level === "fault") throw new InputError(stack.text);
    };
    return await deployStack(ports.stacks, { name, templateUrl: bucket.url(templateKey), refuse, print, sleep: ports.sleep });
  } finally {
    rmSync(outDir, { recursive: true });
  }
}

/** The URLs that API servers call, with the tokens that the stack has made. */
export async function webhooks(
  outputs: StackState["outputs"],
  { secret }: Pick<InstallPorts, "secret">,
): Promise<Partial<Parameters<typeof manifests>[0]>> {
  const { NotifyUrl: notifyUrl, AdmissionUrl: admissionUrl, NotifyTokenArn = "", AdmissionTokenArn = "" } = outputs;
  return {
    ...(notifyUrl !== undefined && { notifyUrl, notifyToken: await secret(NotifyTokenArn) }),
    ...(admissionUrl !== undefined && { admissionUrl, admissionToken: await secret(AdmissionTokenArn) }),
  };
}

/** The EC2NodeClass comes first, because a NodePool without one is not ready. */
function defaultPool(cluster: string, { clusters }: Pick<DeploymentSettings, "clusters">): ReturnType<typeof objectsOf> {
  const yaml = readFileSync(join(ROOT, "infra/default-pool.yaml"), "utf8").replaceAll(/\$\{CLUSTER_NAME\}/g, cluster);
  const named = yaml.replace(/^( *role: ).*$/m, `$1${nodeRoleOf(cluster, { clusters })}`);
  return [...objectsOf(named)].sort((a, b) => a.kind.localeCompare(b.kind));
}

const farewell = (cluster: string, withDefaultPool: boolean): string =>
  withDefaultPool
    ? `cluster ${cluster} is served: pods that fit nowhere get nodes`
    : `cluster ${cluster} is served: apply an EC2NodeClass and a NodePool, or run this again with --with-default-pool`;
