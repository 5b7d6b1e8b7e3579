import { randomUUID } from "node:crypto";
import { DescribeClusterCommand, EKSClient } from "@aws-sdk/client-eks";
import { defaultProvider } from "@aws-sdk/credential-provider-node";
import { clusterDnsOf } from "../../../core/launch/cluster-dns.ts";
import type { ClusterFacts } from "../../../core/launch/user-data.ts";
import type { Announcements } from "../../../core/ports/announcements.ts";
import { silence } from "../../announcing.ts";
import type { ClusterDeps } from "../../cluster-deps.ts";
import { catalogueSource } from "../catalogue/source.ts";
import type { ClusterConfig } from "../config.ts";
import { kubernetesClient } from "../kubernetes/client.ts";
import { eksToken } from "../kubernetes/eks-token.ts";
import { informer, type Readings } from "../kubernetes/informer.ts";
import { listMemory } from "../kubernetes/list-memory.ts";
import { paced } from "../kubernetes/pace.ts";
import { httpsTransport } from "../kubernetes/transport.ts";
import type { Base } from "./base.ts";
import { forDecision } from "./decision.ts";
import { settingsOf } from "./settings.ts";

const TIMEOUTS = { requestHandler: { connectionTimeout: 1_000, requestTimeout: 8_000 } };

/** Some 300 MB of pods and nodes. */
const MAX_REMEMBERED = 100_000;

interface Connected {
  readonly deps: ClusterDeps;
  readonly read: () => Readings;
}

/**
 * What reaches a cluster, made at its first use and kept while the function is warm; each call begins a decision (decision.ts). A cluster whose
 * description fails is asked for again the next time.
 */
export function wireClusters(base: Base, announcements: Announcements = silence): (cluster: string) => Promise<ClusterDeps | undefined> {
  const { region } = base.config;
  const credentials = defaultProvider();
  const catalogue = catalogueSource(base.store, region, base.now);
  const known = new Map<string, Promise<Connected>>();
  const memory = listMemory(MAX_REMEMBERED);
  const settings = settingsOf(base.config);

  const connect = async (config: ClusterConfig): Promise<Connected> => {
    const cluster = await describe(config);
    const token = eksToken({ cluster: cluster.name, region, credentials });
    const log = base.config.clusters.length > 1 ? base.log.with({ cluster: cluster.name }) : base.log;
    const connection = { server: cluster.endpoint, caData: cluster.caBundle, token };
    const transport = paced(httpsTransport(connection), base.config.kubeClient);
    const deps: ClusterDeps = {
      cluster,
      kubernetes: kubernetesClient({ ...connection, transport: transport.send, log }),
      ...{ store: base.store, wakeUps: base.wakeUps, metrics: base.metrics, now: base.now },
      ...{ catalogue, log, announcements, settings, newId: randomUUID },
    };
    return { deps, read: informer({ memory, cluster: cluster.name, ...transport }) };
  };

  return async (name) => {
    const config = base.config.clusters.find((cluster) => cluster.name === name);
    if (config === undefined) return undefined;
    const connecting = known.get(name) ?? connect(config);
    known.set(name, connecting);
    try {
      const { deps, read } = await connecting;
      return forDecision(deps, read());
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
  const clusterDns = clusterDnsOf(serviceCidr);
  return { name, endpoint: server, caBundle: ca, ...(serviceCidr && { serviceCidr }), ...(clusterDns && { clusterDns }) };
}
