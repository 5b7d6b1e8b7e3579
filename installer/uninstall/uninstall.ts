import { manifests } from "#infra/manifests.ts";
import { addedStackName } from "#infra/role-names.ts";
import type { Answer, Print } from "#terminal/command.ts";
import { InputError } from "#terminal/input-error.ts";
import type { ClusterApi, InstallPorts, KubeObject, UninstallPorts } from "../account/ports.ts";
import { servingOf } from "../account/serving.ts";
import { isOurs } from "../account/stack-state.ts";
import { pauseLines } from "../checks/paused.ts";
import { applyObjects, objectsOf, removeOutdated } from "../install/apply-manifests.ts";
import { findKarpenter, type KarpenterDeployment, replicasBefore, scaling } from "../migrate/karpenter-deployment.ts";
import { uninstallGone } from "./gone.ts";
import { handOver } from "./hand-over.ts";
import { type NodeObjects, nodeObjects } from "./nodes.ts";
import { forget, leave, ownStackOf, type Served, writeState } from "./record.ts";
import { removeStack, type UninstallOptions } from "./stack.ts";

/** What was found before anything is removed. */
interface Found extends Served {
  /** "NAMESPACE/NAME" of a running Karpenter's Lease; then the nodes are its own. */
  readonly karpenter: string | undefined;
  /** The Deployment of a Karpenter that gets the nodes; undefined where they do not stay, or none is installed. */
  readonly deployment: KarpenterDeployment | undefined;
  /** Those that are removed. */
  readonly nodes: NodeObjects;
  /** Those that stay. */
  readonly kept: NodeObjects;
}

const NO_NODES: NodeObjects = { pools: [], claims: [], classes: [] };
const POLL_MS = 5_000;

/**
 * Takes the autoscaler out of a cluster: the nodes first, while the functions can still drain them, then the
 * EC2NodeClasses, whose finalizers and instance profiles the functions remove, then webhooks, stack and RBAC. Each step
 * looks what is there, so that it can be repeated as a whole. Of a cluster that is gone it removes what is left in the
 * account. Throws InputError where something is in the way.
 */
export async function uninstall(options: UninstallOptions, ports: UninstallPorts, print: Print): Promise<Answer> {
  const { cluster, dryRun } = options;
  const served = await servedBy(options, ports);
  const isThere = await ports.account.hasCluster(cluster);
  if (!isThere && options.keepNodes)
    throw new InputError(`Cluster ${cluster} does not exist in EKS. Omit --keep-nodes to remove its leftovers.`);
  if (!isThere) return uninstallGone(options, served, ports, print);
  const api = ports.clusterApi(cluster);
  const found = await find(options, served, api);
  const obstacle = obstacleOf(options, found);
  if (dryRun) {
    for (const line of plan(options, found)) print(line);
    return { output: "", isUsable: obstacle === undefined, ...(obstacle !== undefined && { messages: [obstacle] }) };
  }
  if (obstacle !== undefined) throw new InputError(obstacle);
  await sayPaused(cluster, found, ports, print);
  const objects = objectsOf(manifests({ cluster }));
  const definitions = objects.filter(isDefinition);
  const rights = objects.filter((object) => !isDefinition(object));
  if (await writeState("leaving", options, found, ports)) print(`cluster ${cluster} leaves the stack: nothing is planned for it any more`);
  if (keepsNodes(options, found)) await keepNodes(options, found, rights, ports, print);
  else await removeNodes(found.nodes, api, ports, print);
  print(`removing the webhooks of cluster ${cluster}`);
  // The definitions no longer convert by a function that is about to go.
  if (found.stack?.outputs["AdmissionUrl"] !== undefined) await applyObjects(definitions, { api, print, sleep: ports.sleep });
  await removeOutdated([], { api, print });
  await leave(options, found, ports, print);
  const isLast = found.others.length === 0;
  if (isLast) await forget(options, found, ports, print);
  if (found.stack !== undefined && isLast) {
    const { stackName } = options;
    const table = found.stack.outputs["TableName"];
    print(`removing stack ${stackName}${table === undefined ? "" : `; its table ${table} stays`}`);
    await removeStack(stackName, ports, print);
  }
  for (const object of [...rights].reverse()) await api.remove(object);
  print(`RBAC and FlowSchema of cluster ${cluster} removed`);
  // The functions keep a launch template for a day after its last use, and are gone. Karpenter's have the same tag.
  const templates = keepsNodes(options, found) ? 0 : await ports.leftBehind.removeLaunchTemplates(cluster);
  if (templates > 0) print(`${templates} launch ${templates === 1 ? "template" : "templates"} removed`);
  if (!isLast) await forget(options, found, ports, print);
  return { output: `${farewell(options, found)}\n` };
}

/** Says what pauses the cluster: nothing is held of a cluster that leaves its stack. */
async function sayPaused(cluster: string, { stack }: Found, ports: UninstallPorts, print: Print): Promise<void> {
  for (const line of await pauseLines(cluster, stack, ports)) print(`${line}; the pause ends, because the cluster leaves the stack`);
}

const isDefinition = ({ kind }: KubeObject): boolean => kind === "CustomResourceDefinition";

async function servedBy({ cluster, stackName }: UninstallOptions, ports: UninstallPorts): Promise<Served> {
  const stack = await ports.stacks.describe(stackName);
  const serving = await servingOf(stackName, stack, ports);
  const { names, named, records } = serving;
  const isKnown = named.includes(cluster) || records.some(({ name }) => name === cluster);
  const others = names.filter((name) => name !== cluster);
  const own = await ownStackOf(addedStackName(stackName, cluster), { cluster, stackName }, ports);
  if (stack !== undefined && own === undefined && (!isOurs(stack) || (others.length > 0 && !isKnown)))
    throw new InputError(`stack ${stackName} does not serve cluster ${cluster}; name the one that does with --stack`);
  return { stack, serving, others, own };
}

async function find(options: UninstallOptions, served: Served, api: ClusterApi): Promise<Found> {
  const { karpenter } = await api.observe();
  const objects = await nodeObjects(api);
  const keeps = keepsNodes(options, { karpenter });
  const deployment = options.keepNodes ? await findKarpenter(api, options.deployment) : undefined;
  return { ...served, karpenter, deployment, nodes: keeps ? NO_NODES : objects, kept: keeps ? objects : NO_NODES };
}

/** Also without the word for it, nothing that a running Karpenter works with is removed. */
const keepsNodes = ({ keepNodes }: Pick<UninstallOptions, "keepNodes">, { karpenter }: Pick<Found, "karpenter">): boolean =>
  keepNodes || karpenter !== undefined;

async function keepNodes(
  { cluster, startKarpenter }: UninstallOptions,
  { stack, deployment }: Found,
  rights: readonly KubeObject[],
  { records, clusterApi, sleep, now }: UninstallPorts,
  print: Print,
): Promise<void> {
  const table = stack?.outputs["TableName"];
  await handOver({
    ...{ cluster, rights, startKarpenter, print, sleep, now },
    api: clusterApi(cluster),
    records: table === undefined ? undefined : records(table),
    karpenter: deployment,
  });
}

/** Why nothing can be removed yet, in one sentence. */
function obstacleOf(options: UninstallOptions, { stack, deployment, nodes: { claims, classes } }: Found): string | undefined {
  const { cluster, drain, keepNodes, startKarpenter } = options;
  if (drain && keepNodes) return "--drain ends the nodes and --keep-nodes keeps them; give one of them";
  if (startKarpenter && !keepNodes) return "--start-karpenter goes with --keep-nodes; give both";
  if (startKarpenter && deployment === undefined)
    return "there is no Deployment of Karpenter to start; name it with --deployment NAMESPACE/NAME, or leave --start-karpenter out and install its chart afterwards";
  const held = [...claims, ...classes].filter(({ metadata }) => (metadata.finalizers ?? []).length > 0);
  if (stack === undefined && held.length > 0)
    return `the stack is gone, so no function ends ${namesIn(held)} of cluster ${cluster}; run install again, then this`;
  if (claims.length > 0 && !drain)
    return `cluster ${cluster} still has ${namesIn(claims)}; give --drain, which drains and ends these nodes, or --keep-nodes, which leaves them to Karpenter`;
  return undefined;
}

/** "2 NodeClaims (default-1, default-2)" */
function namesIn(objects: readonly KubeObject[]): string {
  const kinds = [...new Set(objects.map(({ kind }) => kind))].map((kind) => {
    const names = objects.filter((object) => object.kind === kind).map(({ metadata }) => metadata.name);
    const shown = names.length > 5 ? [...names.slice(0, 5), "…"] : names;
    return `${names.length} ${kind}${names.length === 1 ? "" : kind.endsWith("s") ? "es" : "s"} (${shown.join(", ")})`;
  });
  return kinds.join(" and ");
}

function plan(options: UninstallOptions, found: Found): readonly string[] {
  const { cluster, stackName, startKarpenter } = options;
  const { stack, others, own, karpenter, deployment, nodes, kept } = found;
  const { pools, claims, classes } = nodes;
  const stay = [kept.pools, kept.claims, kept.classes].filter(({ length }) => length > 0).map(namesIn);
  return [
    "nothing is changed; without --dry-run this would",
    ...(keepsNodes(options, found)
      ? [
          `- leave ${stay.join(", ") || "no object"} to Karpenter${karpenter === undefined ? "" : `, which runs (Lease ${karpenter})`}: the functions finish what they have begun, lose their rights, and their annotations and records go`,
        ]
      : []),
    ...(startKarpenter && deployment !== undefined
      ? [`- scale Deployment ${deployment.namespace}/${deployment.name} to ${replicasBefore(deployment)}`]
      : []),
    ...[pools, claims, classes].filter(({ length }) => length > 0).map((objects) => `- delete ${namesIn(objects)}, and wait for their end`),
    `- remove the webhooks of cluster ${cluster}`,
    ...(own === undefined ? [] : [`- remove stack ${own.name}`]),
    ...(stack === undefined ? [] : [others.length > 0 ? keptStack(cluster, stackName, found) : `- remove stack ${stackName}`]),
    `- remove RBAC and FlowSchema of cluster ${cluster}`,
    ...(keepsNodes(options, found) ? [] : [`- remove the launch templates of cluster ${cluster}`]),
  ];
}

const keptStack = (cluster: string, stackName: string, { others, serving }: Served): string =>
  `- leave stack ${stackName}, which also serves ${others.join(", ")}${serving.named.includes(cluster) ? "; deploy it without this cluster afterwards" : ""}`;

/** Deletes pools, then claims, then classes, each when the ones before are gone. */
async function removeNodes({ pools }: NodeObjects, api: ClusterApi, { sleep }: InstallPorts, print: Print): Promise<void> {
  for (const pool of pools) await api.remove(pool);
  if (pools.length > 0) print(`deleted ${namesIn(pools)}`);
  for (const kind of ["claims", "classes"] as const) {
    let told = "";
    for (;;) {
      const objects = (await nodeObjects(api))[kind];
      if (objects.length === 0) break;
      for (const object of objects) if (object.metadata.deletionTimestamp === undefined) await api.remove(object);
      const waiting = `waiting for the end of ${namesIn(objects)}`;
      if (waiting !== told) print(waiting);
      told = waiting;
      await sleep(POLL_MS);
    }
  }
}

function farewell(options: UninstallOptions, found: Found): string {
  const { cluster, stackName, region, startKarpenter } = options;
  const { stack, serving, others, karpenter, deployment } = found;
  const table = stack?.outputs["TableName"];
  const start =
    deployment === undefined
      ? "install Karpenter's chart, which finds them"
      : `start it: ${scaling(deployment, replicasBefore(deployment))}`;
  return [
    `cluster ${cluster} is no longer served`,
    ...(others.length > 0
      ? [
          `stack ${stackName} stays, because it also serves ${others.join(", ")}${serving.named.includes(cluster) ? `: deploy it without ${cluster}` : ""}`,
        ]
      : []),
    ...(others.length === 0 && table !== undefined
      ? [`the table stays: aws dynamodb delete-table --region ${region} --table-name ${table}`]
      : []),
    keepsNodes(options, found)
      ? "CRDs, NodePools, NodeClaims and EC2NodeClasses stay, because Karpenter works with them"
      : "the CRDs stay, because EKS Auto Mode and Karpenter share them",
    ...(options.keepNodes && karpenter === undefined && !startKarpenter
      ? [`no controller manages the nodes until Karpenter runs; ${start}`]
      : []),
  ].join("\n");
}
