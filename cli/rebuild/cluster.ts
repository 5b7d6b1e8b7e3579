import { ec2Client } from "#adapters/aws/clients.ts";
import { ec2Fleet } from "#adapters/aws/fleet.ts";
import { noAnnouncements } from "#functions/shared/announce.ts";
import { wireBase } from "#functions/wiring/base.ts";
import { wireClustersWith } from "#functions/wiring/clusters.ts";
import { ConfigError } from "#settings/config.ts";
import { InputError } from "#terminal/input-error.ts";
import { type TableChoice, tableOf } from "../stack-table.ts";
import { rebuild } from "./rebuild.ts";

/** What `cli rebuild` is asked for. */
export interface RebuildOptions extends TableChoice {
  readonly cluster: string;
  readonly region: string;
  readonly apply: boolean;
}

/**
 * Rebuilds a live cluster with the caller's own AWS credentials, which the cluster must accept. Throws InputError for
 * what the caller can fix.
 */
export async function rebuildCluster({ cluster, region, apply, ...choice }: RebuildOptions): Promise<string> {
  if (region === "") throw new InputError("say in which region the cluster is: --region us-west-2, or set AWS_REGION");
  const table = await tableOf(choice, region);
  try {
    const base = wireBase("rebuild", [], { AWS_REGION: region, TABLE_NAME: table, CLUSTERS: JSON.stringify([{ name: cluster }]) });
    const clusterDeps = wireClustersWith(base, noAnnouncements, ({ credentials }) => ({ fleet: ec2Fleet(ec2Client(region, credentials)) }));
    const deps = await clusterDeps(cluster);
    if (deps === undefined) throw new InputError(`there is no cluster ${cluster}`);
    return await rebuild(deps, { apply });
  } catch (error) {
    if (error instanceof InputError) throw error;
    if (error instanceof ConfigError) throw new InputError(error.message);
    const why = error instanceof Error ? error.message : String(error);
    throw new InputError(`cluster ${cluster}, table ${table}, region ${region}: ${why}`);
  }
}
