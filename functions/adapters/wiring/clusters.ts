import { randomUUID } from "node:crypto";
import { DescribeClusterCommand, EKSClient } from "@aws-sdk/client-eks";
import { defaultProvider } from "@aws-sdk/credential-provider-node";
import type { ClusterFacts } from "../../../core/launch/user-data.ts";
import type { Announcements } from "../../../core/ports/announcements.ts";
import { silence } from "../../announcing.ts";
import type { ClusterDeps } from "../../cluster-deps.ts";
import { catalogueSource } from "../catalogue/source.ts";
import type { ClusterConfig } from "../config.ts";
import { kubernetesClient } from "../kubernetes/client.ts";
import { eksToken } from "../kubernetes/eks-token.ts";
import type { Base } from "./base.ts";

const TIMEOUTS = { requestHandler: { connectionTimeout: 1_000, requestTimeout: 8_000 } };

/**
 * What reaches a cluster, made at its first use and kept while the function is warm. A cluster whose description fails is asked for again the
 * next time.
 */
export function wireClusters(base: Base, announcements: Announcements = silence): (cluster: string) => Promise<ClusterDeps | undefined> {
  const { region } = base.config;
  const credentials = defaultProvider();
  const catalogue = catalogueSource(base.store, region, base.now);
  const known = new Map<string, Promise<ClusterDeps>>();
  const settings = {
    vmMemoryOverheadPercent: base.config.vmMemoryOverheadPercent,
    reservedEnis: base.config.reservedEnis,
    preferencePolicy: base.config.preferencePolicy,
    minValuesPolicy: base.config.minValuesPolicy,
    spotToSpotConsolidation: base.config.featureGates.SpotToSpotConsolidation,
    capacityBuffer: base.config.featureGates.CapacityBuffer,
    nodeOverlay: base.config.featureGates.NodeOverlay,
    nodeRepair: base.config.featureGates.NodeRepair,
    staticCapacity: base.config.featureGates.StaticCapacity,
  };

  const connect = async (config: ClusterConfig): Promise<ClusterDeps> => {
    const cluster = await describe(config);
    const token = eksToken({ cluster: cluster.name, region, credentials });
    const log = base.config.clusters.length > 1 ? base.log.with({ cluster: cluster.name }) : base.log;
    return {
      cluster,
      kubernetes: kubernetesClient({ server: cluster.endpoint, caData: cluster.caBundle, token, log }),
      ...{ store: base.store, wakeUps: base.wakeUps, metrics: base.metrics, now: base.now },
      ...{ catalogue, log, announcements, settings, newId: randomUUID },
    };
  };

  return async (name) => {
    const config = base.config.clusters.find((cluster) => cluster.name === name);
    if (config === undefined) return undefined;
    const connecting = known.get(name) ?? connect(config);
    known.set(name, connecting);
    try {
      return await connecting;
    } catch (error) {
      known.delete(name);
      throw error;
    }
  };
}

/** What nodes need to join, from EKS unless the settings say it. */
async function describe({ name, endpoint, caBundle }: ClusterConfig): Promise<ClusterFacts> {
  const { cluster } = await new EKSClient(TIMEOUTS).send(new DescribeClusterCommand({ name }));
  const server = endpoint ?? cluster?.endpoint;
  const ca = caBundle ?? cluster?.certificateAuthority?.data;
  if (server === undefined || ca === undefined) {
    throw new Error(`EKS knows no endpoint of cluster ${name} yet; wait until it is ACTIVE, or set endpoint and caBundle in CLUSTERS.`);
  }
  const network = cluster?.kubernetesNetworkConfig;
  const serviceCidr = network?.serviceIpv4Cidr ?? network?.serviceIpv6Cidr;
  return { name, endpoint: server, caBundle: ca, ...(serviceCidr !== undefined && { serviceCidr }) };
}
