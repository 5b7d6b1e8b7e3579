import { DescribeClusterCommand, EKSClient } from "@aws-sdk/client-eks";
import { clusterDnsOf } from "#core/launch/cluster-dns.ts";
import type { ClusterFacts } from "#core/launch/user-data-input.ts";
import type { ClusterConfig } from "#settings/cluster-list.ts";
import type { CredentialSource } from "./assume-role.ts";

const TIMEOUTS = { requestHandler: { connectionTimeout: 1_000, requestTimeout: 8_000 } };

/**
 * Reads what nodes need to join the cluster: from EKS, unless the settings contain it. Throws a sentence while EKS has
 * no endpoint.
 */
export async function describeCluster(
  { name, endpoint, caBundle }: ClusterConfig,
  credentials: CredentialSource,
  region: string,
): Promise<ClusterFacts> {
  const client = new EKSClient({ ...TIMEOUTS, region, credentials });
  const { cluster } = await client.send(new DescribeClusterCommand({ name }));
  const server = endpoint ?? cluster?.endpoint;
  const ca = caBundle ?? cluster?.certificateAuthority?.data;
  if (server === undefined || ca === undefined) {
    throw new Error(`EKS knows no endpoint of cluster ${name} yet; wait until it is ACTIVE, or set endpoint and caBundle in CLUSTERS.`);
  }
  const network = cluster?.kubernetesNetworkConfig;
  const serviceCidr = network?.serviceIpv4Cidr ?? network?.serviceIpv6Cidr;
  const clusterDns = clusterDnsOf(serviceCidr);
  return {
    ...{ name, endpoint: server, caBundle: ca },
    ...(cluster?.arn && { arn: cluster.arn }),
    ...(serviceCidr && { serviceCidr }),
    ...(clusterDns && { clusterDns }),
  };
}
