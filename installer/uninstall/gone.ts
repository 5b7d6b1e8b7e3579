import type { Answer, Print } from "#terminal/command.ts";
import { InputError } from "#terminal/input-error.ts";
import type { LeftBehind, UninstallPorts } from "../account/ports.ts";
import type { StackState } from "../account/stack-state.ts";
import { forget, leave, type Served } from "./record.ts";
import { removeStack, type UninstallOptions } from "./stack.ts";

interface Found {
  readonly instances: readonly string[];
  readonly profiles: readonly string[];
  /** The stack, where it serves no other cluster. */
  readonly stack: StackState | undefined;
  readonly tables: readonly string[];
}

/**
 * Removes what a cluster that EKS no longer knows has left in the account: instances, launch templates, instance
 * profiles, table and stack. Nothing drains, because there is no API server to ask. The table goes before the stack,
 * whose output names it, so that a run that is killed finds both again. Throws InputError without agreement.
 */
export async function uninstallGone(options: UninstallOptions, served: Served, ports: UninstallPorts, print: Print): Promise<Answer> {
  const { cluster, region, stackName, dryRun } = options;
  const { account } = await ports.account.caller();
  print(`cluster ${cluster} does not exist in ${region} of account ${account}; looking for its leftovers`);
  const found = await find(options, served, ports.leftBehind);
  for (const line of told(options, served, found)) print(line);
  if (dryRun) {
    print(`nothing is changed; without --dry-run this would remove all of it, and launch templates of cluster ${cluster}`);
    return { output: "" };
  }
  if (!(await isAgreed(options, served, found, ports))) throw new InputError("nothing was removed");
  // Otherwise the functions would still launch, or take AWS's refusals for errors.
  await leave(options, { ...served, own: undefined }, ports, print);
  await remove(options, served, found, ports, print);
  if (served.others.length > 0) await forget(options, served, ports, print);
  const isNamed = served.serving.named.includes(cluster);
  const stays = served.others.length > 0 ? `; stack ${stackName} stays${isNamed ? `: deploy it without ${cluster}` : ""}` : "";
  return { output: `nothing of cluster ${cluster} is left${stays}\n` };
}

async function find({ cluster, stackName }: UninstallOptions, { stack, others }: Served, left: LeftBehind): Promise<Found> {
  const [instances, profiles] = await Promise.all([left.instances(cluster), left.instanceProfiles(cluster)]);
  if (others.length > 0) return { instances, profiles, stack: undefined, tables: [] };
  const table = stack?.outputs["TableName"];
  return { instances, profiles, stack, tables: table === undefined ? await left.tables(stackName) : [table] };
}

function told(
  { cluster, stackName, region }: UninstallOptions,
  { others, own }: Served,
  { instances, profiles, stack, tables }: Found,
): readonly string[] {
  const whose = others.length > 0 ? `stays, because it also serves ${others.join(", ")}` : undefined;
  return [
    `  instances with the tags eks:eks-cluster-name=${cluster}, karpenter.sh/nodepool and karpenter.k8s.aws/ec2nodeclass: ${named(instances)}`,
    `  instance profiles under /karpenter/${region}/${cluster}/: ${named(profiles)}`,
    ...(own === undefined ? [] : [`  stack ${own.name}: ${own.state.status}`]),
    `  stack ${stackName}: ${whose ?? stack?.status ?? "none"}`,
    `  its table: ${whose ?? named(tables)}`,
  ];
}

const named = (names: readonly string[]): string => (names.length === 0 ? "none" : `${names.length} (${names.join(", ")})`);

async function isAgreed({ yes }: UninstallOptions, { own }: Served, found: Found, { confirm }: UninstallPorts): Promise<boolean> {
  const { instances, profiles, stack, tables } = found;
  if (yes || (own === undefined && instances.length === 0 && profiles.length === 0 && stack === undefined && tables.length === 0))
    return true;
  const answer = await confirm("Remove all of it? Instances end at once, and what is on their disks is lost.");
  if (answer === undefined) throw new InputError("nothing was removed, because standard input is no terminal; give --yes");
  return answer;
}

async function remove(
  { cluster, stackName }: UninstallOptions,
  { own }: Served,
  found: Found,
  ports: UninstallPorts,
  print: Print,
): Promise<void> {
  const { leftBehind: left } = ports;
  const { instances, profiles, stack, tables } = found;
  if (instances.length > 0) {
    await left.terminate(instances);
    print(`terminated ${instances.length === 1 ? "1 instance" : `${instances.length} instances`}`);
  }
  const templates = await left.removeLaunchTemplates(cluster);
  print(`launch templates with the tag eks:eks-cluster-name=${cluster}: ${templates} removed`);
  for (const name of profiles) {
    await left.removeInstanceProfile(name);
    print(`removed instance profile ${name}`);
  }
  if (own !== undefined) {
    print(`removing stack ${own.name}`);
    await removeStack(own.name, ports, print);
  }
  for (const name of tables) {
    await left.removeTable(name);
    print(`removed table ${name}`);
  }
  if (stack === undefined) return;
  print(`removing stack ${stackName}`);
  await removeStack(stackName, ports, print);
  // A function may have launched what was planned before, until it lost its table.
  const late = await left.instances(cluster);
  if (late.length === 0) return;
  await left.terminate(late);
  await left.removeLaunchTemplates(cluster);
  print(`terminated ${late.join(", ")}, which came meanwhile`);
}
