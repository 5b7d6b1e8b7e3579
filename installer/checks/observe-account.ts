import type { ClusterApi, InstallPorts, LiveSettings, Stacks } from "../account/ports.ts";
import { auditGroupOf, type Facts, nodeRoleOf, type Observed, type Wanted } from "./facts.ts";

interface ObservedPorts extends Pick<InstallPorts, "account"> {
  readonly live: Pick<LiveSettings, "logGroupClass">;
  readonly stacks: Pick<Stacks, "describe">;
  readonly clusterApi: (cluster: string) => Pick<ClusterApi, "observe">;
}

/** Asks an account and a cluster all that the checks want to know. Changes nothing, and never rejects. */
export async function observe(
  cluster: string,
  region: string,
  wanted: Wanted,
  { account, clusterApi, live, stacks }: ObservedPorts,
): Promise<Facts> {
  if (region === "") return blind(cluster, "no region is known");
  const caller = await observed(account.caller());
  if ("error" in caller) return blind(cluster, "AWS does not accept your credentials", { region, caller });
  const nodeRole = await observed(account.roleArn(nodeRoleOf(cluster, wanted)));
  const arn = "value" in nodeRole ? nodeRole.value : undefined;
  const group = auditGroupOf(cluster, wanted);
  const [eks, lambda, stack, subnets, securityGroups, hasSpotRole, auditGroup] = await Promise.all([
    observed(account.cluster(cluster)),
    observed(account.lambdaLimit()),
    observed(stacks.describe(wanted.stackName)),
    observed(account.tagged("subnets", cluster)),
    observed(account.tagged("securityGroups", cluster)),
    observed(account.roleArn("AWSServiceRoleForEC2Spot").then((role) => role !== undefined)),
    observed(live.logGroupClass(group).then((found) => ({ group, class: found }))),
  ]);
  const nodeEntry: Facts["nodeEntry"] =
    "error" in nodeRole ? nodeRole : arn === undefined ? { value: undefined } : await observed(account.accessEntryType(cluster, arn));
  const inCluster: Facts["inCluster"] = "error" in eks ? eks : await observed(clusterApi(cluster).observe());
  const network = { subnets, securityGroups, hasSpotRole };
  return { cluster, region, caller, eks, inCluster, lambda, stack, nodeRole, nodeEntry, ...network, auditGroup };
}

/** An answer, or the sentence why there is none. */
export async function observed<T>(asked: Promise<T>): Promise<Observed<T>> {
  try {
    return { value: await asked };
  } catch (error) {
    return { error: (error instanceof Error ? error.message : String(error)).replaceAll(/\s+/g, " ").replace(/\.$/, "") };
  }
}

/** What is known when neither AWS nor the cluster answers. */
function blind(cluster: string, why: string, known: Partial<Facts> = {}): Facts {
  const error = { error: why };
  return {
    ...{ cluster, region: "", caller: error, eks: error, inCluster: error, lambda: error, stack: error },
    ...{ nodeRole: error, nodeEntry: error, subnets: error, securityGroups: error, hasSpotRole: error, auditGroup: error },
    ...known,
  };
}
