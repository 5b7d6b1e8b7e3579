import { BUNDLED_REGIONS, bundledCatalogue } from "#adapters/catalogue/bundled.ts";
import { kubernetesClient } from "#adapters/kubernetes/client.ts";
import { readOnly } from "#adapters/kubernetes/read-only.ts";
import { httpsTransport } from "#adapters/kubernetes/transport.ts";
import { readCircuits } from "#adapters/store/circuit-breaker.ts";
import { CLOSED, circuitText, openCircuits } from "#core/disruption/limits/circuit-breaker.ts";
import type { HistoryEntry } from "#core/model/history-entry.ts";
import type { HistoryRange } from "#core/model/history-range.ts";
import { KARPENTER_LEASE, runningKarpenter } from "#core/model/karpenter-lease.ts";
import { REGION, ZONE } from "#core/model/labels.ts";
import type { Node } from "#core/model/node.ts";
import type { EC2NodeClass } from "#core/model/node-class.ts";
import type { UnavailableOffering } from "#core/model/unavailable-offering.ts";
import type { Catalogue } from "#core/offerings/catalogue.ts";
import { heldReservations } from "#core/offerings/reservations.ts";
import { isInForce, pauseText } from "#core/pause/pause.ts";
import { RefusedError } from "#core/ports/errors.ts";
import type { Kind } from "#core/ports/kubernetes.ts";
import type { NodeClaimStore } from "#core/ports/node-claim-store.ts";
import { counted } from "#core/scheduling/reasons/words.ts";
import { type ClusterStateDeps, readClusterState } from "#functions/shared/cluster-state.ts";
import { instanceTypesFor } from "#functions/shared/instance-types.ts";
import { ProcessMemory } from "#functions/shared/process-memory.ts";
import { DEFAULT_SETTINGS } from "#functions/wiring/settings.ts";
import { explained, type KubeconfigCluster, kubeconfigCluster } from "#installer/account/kubeconfig.ts";
import type { ClusterApi, KubeObject } from "#installer/account/ports.ts";
import { readPauses } from "#installer/pause/read.ts";
import { ConfigError } from "#settings/config.ts";
import type { Settings } from "#settings/setting-table.ts";
import { InputError } from "#terminal/input-error.ts";
import type { WhatIfOptions } from "./options.ts";
import type { Source } from "./source.ts";

/** How a live cluster is named: by a kubeconfig, or by the stack that serves it. */
export type LiveChoice = Pick<WhatIfOptions, "context" | "kubeconfig" | "cluster" | "region" | "stack" | "table">;

/** A live cluster that can be read again and again. */
export interface LiveCluster {
  /** "cluster prod". */
  readonly name: string;
  /** Throws InputError. */
  readonly read: () => Promise<Source>;
  /** Entries of the history; absent where the stack's table is not read. */
  readonly history?: (range: HistoryRange) => Promise<readonly HistoryEntry[]>;
}

/** What a cluster is read through; the history is the table's. */
type LiveDeps = ClusterStateDeps & { readonly store: Partial<Pick<NodeClaimStore, "history">> };

/**
 * Connects to a live cluster, through a kubeconfig or, with AWS credentials, as the stack does. Throws InputError for
 * what the caller can fix.
 * @param given settings that the cluster is read under, such as its price cap; the others have their defaults
 */
export async function openLive(options: LiveChoice, given: Partial<Settings> = {}): Promise<LiveCluster> {
  const name = options.cluster === undefined ? `cluster ${options.context ?? "of the current context"}` : `cluster ${options.cluster}`;
  const saying = async <T>(work: Promise<T>): Promise<T> => {
    try {
      return await work;
    } catch (error) {
      if (error instanceof InputError) throw error;
      const why = error instanceof Error ? error.message : String(error);
      throw new InputError(`${name} cannot be read: ${why}${remedyOf(why)}`);
    }
  };
  const connected = await saying(options.cluster === undefined ? throughKubeconfig(options) : throughStack(options.cluster, options));
  const deps = { ...connected, settings: { ...connected.settings, ...given } };
  const { store, cluster } = deps;
  return {
    name,
    read: () => saying(liveSource(name, deps, { isOfStack: options.cluster !== undefined })),
    ...(store.history && { history: async (range) => (await store.history?.(cluster.name, range)) ?? [] }),
  };
}

/** What a person may do about a server that is asked as the functions ask it. */
function remedyOf(why: string): string {
  if (/no answer/.test(why)) return "; connect to the cluster's network or VPN, or let its public endpoint accept this address";
  if (/\b401\b/.test(why)) return "; your AWS credentials need an access entry of the cluster: aws eks create-access-entry";
  return "";
}

/** Reads a live cluster once. Throws InputError. */
export async function readLiveSource(options: LiveChoice, given?: Partial<Settings>): Promise<Source> {
  return (await openLive(options, given)).read();
}

/** Reads a cluster as the functions read it for a decision. */
export async function liveSource(
  name: string,
  deps: ClusterStateDeps,
  { isOfStack = false }: { readonly isOfStack?: boolean } = {},
): Promise<Source> {
  const { kubernetes, settings, store, cluster, now } = deps;
  const [nodeOverlays, capacityBuffers, leases] = await Promise.all([
    listed(kubernetes, "NodeOverlay"),
    listed(kubernetes, "CapacityBuffer"),
    listed(kubernetes, "Lease", { fieldSelector: `metadata.name=${KARPENTER_LEASE}` }),
  ]);
  const gates = { nodeOverlay: nodeOverlays.length > 0, capacityBuffer: capacityBuffers.length > 0 };
  const world = await readClusterState({ ...deps, settings: { ...settings, ...gates } });
  const [catalogue, unavailable] = await Promise.all([deps.catalogue(), store.unavailable(cluster.name, now())]);
  const { snapshot, nodeClasses, records, commands } = world;
  const typesOf = (nodeClass: string, classes: readonly EC2NodeClass[]) => {
    const found = classes.find(({ metadata }) => metadata.name === nodeClass);
    return found ? instanceTypesFor(catalogue, found, unavailable, settings, heldReservations(records)) : [];
  };
  const whereSpot = isOfStack ? "the function catalog has not written them yet" : "--cluster reads what the stack's table knows";
  const remarks = [
    ...(runningKarpenter(leases, now()) === undefined
      ? []
      : [
          "Karpenter itself runs in this cluster and decides there; what is said of decisions is what karpenter-serverless would do in its place",
        ]),
    ...(await holdsOf(cluster.name, deps)),
    ...(catalogue.spot ? [] : [`no spot prices are known here, so those of on-demand stand in; ${whereSpot}`]),
  ];
  const from = `${counted(snapshot.nodes.length, "node")}, prices of ${catalogue.region} as of ${catalogue.asOf}`;
  return {
    name: `${name} (${from})`,
    snapshot,
    nodeClasses,
    nodeOverlays,
    intents: { records, commands },
    typesOf,
    knowsClasses: true,
    remarks,
  };
}

/** What holds disruption or launches, a sentence each, by the stack's table and the cluster; none without a table. */
async function holdsOf(cluster: string, { kubernetes, store: { getDocument }, now }: ClusterStateDeps): Promise<readonly string[]> {
  if (getDocument === undefined) return [];
  const find = ({ metadata: { name, namespace } }: KubeObject) => kubernetes.get("ConfigMap", name, namespace);
  const [pauses, circuits = CLOSED] = await Promise.all([
    readPauses(cluster, { store: { getDocument }, api: { find: find as ClusterApi["find"] }, now: now() }),
    readCircuits(cluster, { store: { getDocument } }),
  ]);
  return [
    ...pauses.flatMap((pause) => (isInForce(pause, now()) ? [pauseText(pause)] : [])),
    ...openCircuits(circuits, now()).map(circuitText),
  ];
}

/** Objects of a kind that the cluster may not have, or that the user may not read. */
async function listed<K extends Kind>(
  kubernetes: ClusterStateDeps["kubernetes"],
  kind: K,
  options: { readonly fieldSelector?: string } = {},
) {
  try {
    return await kubernetes.list(kind, options);
  } catch (error) {
    if (error instanceof RefusedError) return [];
    throw error;
  }
}

/** The store of a cluster that is read without the stack's table: it is empty. */
export const NO_STORE: ClusterStateDeps["store"] = {
  list: async () => [],
  commands: async () => [],
  unavailable: async (): Promise<readonly UnavailableOffering[]> => [],
};

async function throughKubeconfig({ kubeconfig, context, region }: LiveChoice): Promise<LiveDeps> {
  const found = await kubeconfigCluster({ ...(kubeconfig !== undefined && { kubeconfig }), ...(context !== undefined && { context }) });
  const connection = { kubeconfig: found.kubeconfig, context: found.context };
  const kubernetes = kubernetesClient({ ...connection, transport: explained(readOnly(httpsTransport(connection).send), found) });
  const own = region ?? process.env["AWS_REGION"] ?? regionOf(await kubernetes.list("Node")) ?? regionOfServer(found);
  const catalogue = catalogueOf(own);
  return {
    cluster: { name: clusterOfContext(found.context), endpoint: "", caBundle: "" },
    kubernetes,
    ...{ store: NO_STORE, catalogue: async () => catalogue, settings: DEFAULT_SETTINGS, memory: new ProcessMemory(), now: Date.now },
  };
}

/** `aws eks update-kubeconfig` names a context by the cluster's ARN; settings name clusters. */
export const clusterOfContext = (context: string): string => /^arn:aws[\w-]*:eks:[^:]+:\d+:cluster\/(.+)$/.exec(context)?.[1] ?? context;

function catalogueOf(region: string | undefined): Catalogue {
  if (region === undefined)
    throw new InputError(`the nodes do not say in which region they are; add --region, one of ${BUNDLED_REGIONS.join(", ")}`);
  if (!(BUNDLED_REGIONS as readonly string[]).includes(region))
    throw new InputError(
      `types and prices of ${region} do not come with the code, only those of ${BUNDLED_REGIONS.join(", ")}; name the cluster with --cluster, so that those in the stack's table are read`,
    );
  return bundledCatalogue(region);
}

/**
 * EKS has the region in the server's name, and `aws eks update-kubeconfig` in the context's: an empty cluster has no
 * nodes to ask.
 */
export const regionOfServer = ({ server, context }: Pick<KubeconfigCluster, "server" | "context">): string | undefined =>
  /\.([a-z]{2}(?:-[a-z]+)+-\d)\.eks\.amazonaws\.com/.exec(server)?.[1] ?? /^arn:aws[\w-]*:eks:([a-z0-9-]+):/.exec(context)?.[1];

export function regionOf(nodes: readonly Node[]): string | undefined {
  for (const { metadata } of nodes) {
    const { [REGION]: region, [ZONE]: zone } = metadata.labels ?? {};
    const found = region ?? /^(.*\d)[a-z]$/.exec(zone ?? "")?.[1];
    if (found !== undefined) return found;
  }
  return undefined;
}

/**
 * Connects as the functions do: EKS gives the address of the cluster, the table gives records, unavailable offerings
 * and prices.
 */
async function throughStack(cluster: string, { region = process.env["AWS_REGION"], ...choice }: LiveChoice): Promise<LiveDeps> {
  if (region === undefined || region === "")
    throw new InputError("say in which region the cluster is: --region us-west-2, or set AWS_REGION");
  const [{ tableOf }, { wireBase }, { wireClusters }] = await Promise.all([
    import("../stack-table.ts"),
    import("#functions/wiring/base.ts"),
    import("#functions/wiring/clusters.ts"),
  ]);
  const table = await tableOf(choice, region);
  try {
    const base = wireBase("what-if", [], { AWS_REGION: region, TABLE_NAME: table, CLUSTERS: JSON.stringify([{ name: cluster }]) });
    const deps = await wireClusters(base)(cluster);
    if (deps === undefined) throw new InputError(`there is no cluster ${cluster}`);
    const { kubernetes, store } = deps;
    // Only the methods that read are passed on.
    return {
      ...{ cluster: deps.cluster, catalogue: deps.catalogue, now: deps.now, settings: DEFAULT_SETTINGS, memory: deps.memory },
      kubernetes: { get: kubernetes.get.bind(kubernetes), list: kubernetes.list.bind(kubernetes) },
      store: {
        ...{ list: store.list.bind(store), commands: store.commands.bind(store), unavailable: store.unavailable.bind(store) },
        ...{ history: store.history.bind(store), getDocument: store.getDocument.bind(store) },
      },
    };
  } catch (error) {
    if (error instanceof ConfigError) throw new InputError(error.message);
    throw error;
  }
}
