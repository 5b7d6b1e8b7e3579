import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { catalogueSource } from "#adapters/catalogue/source.ts";
import { kubernetesClient } from "#adapters/kubernetes/client.ts";
import { eksToken } from "#adapters/kubernetes/eks-token.ts";
import { informer, type Readings } from "#adapters/kubernetes/informer.ts";
import { listMemory } from "#adapters/kubernetes/list-memory.ts";
import { paced } from "#adapters/kubernetes/pace.ts";
import { httpsTransport, type Transport } from "#adapters/kubernetes/transport.ts";
import type { ClusterFacts } from "#core/launch/user-data-input.ts";
import type { Announcements } from "#core/ports/announcements.ts";
import type { Log } from "#core/ports/log.ts";
import type { ClusterConfig } from "#settings/cluster-list.ts";
import { noAnnouncements } from "../shared/announce.ts";
import type { ClusterDeps } from "../shared/cluster-deps.ts";
import { ProcessMemory } from "../shared/process-memory.ts";
import { type Account, perAccount, wireAccounts, wireOwnRoles } from "./accounts.ts";
import type { Base } from "./base.ts";
import { clusterFacts } from "./cluster-facts.ts";
import { type ConnectedDeps, forDecision } from "./decision.ts";
import { keptConnections } from "./kept-connections.ts";
import { later } from "./later.ts";

/** Objects in memory: some 300 MB of pods and nodes. No benchmark has tuned it. */
const MAX_REMEMBERED_OBJECTS = 100_000;

interface Connected {
  readonly deps: ConnectedDeps;
  readonly read: () => Readings;
}

/**
 * The ports of each cluster, made at their first use and kept while the function is warm (kept-connections.ts); each
 * call begins a decision (decision.ts). Undefined for a cluster that this stack does not serve. When a cluster's
 * description fails, the call rejects and the next call tries again.
 */
export function wireClusters(
  base: Base,
  announcements: Announcements = noAnnouncements,
  accountOf = wireAccounts(base),
): (cluster: string) => Promise<ClusterDeps | undefined> {
  const { region } = base.config;
  const catalogueOf = perAccount(accountOf, ({ id }) => catalogueSource(base, region, base.now, id));
  const memory = listMemory(MAX_REMEMBERED_OBJECTS);
  const { settings, kubeClientQps: qps, kubeClientBurst: burst } = base.config;
  const factsOf = clusterFacts({
    ...{ store: base.store, log: base.log, now: base.now },
    // A file of its own, because most cold starts find the description in the table and need no client of EKS.
    describe: async (cluster) =>
      (await import("#adapters/aws/describe-cluster.ts")).describeCluster(cluster, accountOf(cluster).credentials, region),
  });

  const logOf = (cluster: string): Log => (base.served.only() === undefined ? base.log.with({ cluster }) : base.log);
  const connect = (config: ClusterConfig, cluster: ClusterFacts, lost: () => void): Connected => {
    const { id: account, credentials } = accountOf(config);
    const token = eksToken({ cluster: cluster.name, region, credentials });
    const log = logOf(cluster.name);
    const connection = { server: cluster.endpoint, caData: cluster.caBundle, token };
    const transport = telling(paced(httpsTransport(connection), { qps, burst }), lost);
    const deps: ConnectedDeps = {
      cluster,
      ...(account !== undefined && { account }),
      kubernetes: kubernetesClient({ ...connection, transport: transport.send, log }),
      ...{ store: base.store, wakeUps: base.wakeUps, metrics: base.metricsOf(cluster.name), now: base.now },
      ...{ catalogue: catalogueOf(config), log, announcements, settings, sleep, later, newId: randomUUID, memory: new ProcessMemory() },
    };
    // The lists of a cluster that had the same name are not this one's.
    return { deps, read: informer({ memory, cluster: `${cluster.name} ${cluster.endpoint}`, ...transport }) };
  };
  const connectionTo = keptConnections({ factsOf, connect, now: base.now });

  return async (name) => {
    const config = await base.served.find(name);
    if (config === undefined || config.state === "adding") return undefined;
    const { deps, read } = await connectionTo(config);
    // A connection is older than what is known of the cluster now.
    const hasEventSource = config.sources.some((source) => source !== "sweep");
    return { ...forDecision(deps, read()), log: logOf(name), hasEventSource, ...(config.state === "leaving" && { isLeaving: true }) };
  };
}

/** The transport; `lost` is called when a request has no answer. */
function telling<T extends { readonly send: Transport }>(transport: T, lost: () => void): T {
  const send: Transport = async (request) => {
    try {
      return await transport.send(request);
    } catch (error) {
      lost();
      throw error;
    }
  };
  return { ...transport, send };
}

/** The same, with a port of the cluster's account that only one function has: its instances, or its offerings. */
export function wireClustersWith<T extends object>(
  base: Base,
  announcements: Announcements,
  make: (account: Account) => T,
): (cluster: string) => Promise<(ClusterDeps & T) | undefined> {
  const accountOf = wireAccounts(base);
  const madeFor = perAccount(wireOwnRoles(base, accountOf), make);
  const wired = wireClusters(base, announcements, accountOf);
  return async (name) => {
    const deps = await wired(name);
    const config = await base.served.find(name);
    return deps && config && { ...deps, ...madeFor(config) };
  };
}
