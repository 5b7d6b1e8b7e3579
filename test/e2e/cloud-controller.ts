import type { FakeInstance } from "./fake-aws/world.ts";
import type { TestCluster } from "./support/cluster.ts";

/** How often the cloud controller looks at Nodes (its --node-monitor-period), ms. */
const PERIOD_MS = 5_000;
/** No machine that ended so long ago can still join, ms. */
const LATE_JOIN_MS = 60_000;

/** The fields of a Node that are read. */
export interface WatchedNode {
  readonly metadata: {
    readonly name: string;
    readonly annotations?: Readonly<Record<string, string>>;
    readonly deletionTimestamp?: string;
  };
  readonly spec: { readonly providerID?: string };
  readonly status?: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] };
}

type Ended = Pick<FakeInstance, "id" | "zone">;

const providerIdOf = ({ id, zone }: Ended): string => `aws:///${zone}/${id}`;
const isReady = ({ status }: WatchedNode): boolean => status?.conditions?.some((c) => c.type === "Ready" && c.status === "True") === true;

/**
 * What is done about the Nodes of instances that EC2 has ended: they are deleted once they are not Ready, as by the
 * cloud controller of EKS (kubernetes: cloud-provider, controllers/nodelifecycle, MonitorNodes). Without it the Node of
 * a machine that ended before its NodeClaim was registered stays, and no other machine can join under its address.
 * A Node that joined while its instance ended is halted.
 */
export function endOfNodes(
  nodes: readonly WatchedNode[],
  ended: readonly Ended[],
): { readonly remove: readonly string[]; readonly halt: readonly string[] } {
  const gone = new Set(ended.map(providerIdOf));
  const orphans = nodes.filter(({ metadata, spec }) => metadata.deletionTimestamp === undefined && gone.has(spec.providerID ?? ""));
  return {
    remove: orphans.filter((node) => !isReady(node)).map(({ metadata }) => metadata.name),
    halt: orphans
      .filter((node) => isReady(node) && node.metadata.annotations?.["testcluster/kubelet"] !== "stopped")
      .map(({ metadata }) => metadata.name),
  };
}

interface CloudControllerOptions {
  readonly cluster: Pick<TestCluster, "get" | "kubectl" | "halt">;
  readonly instances: () => Iterable<FakeInstance>;
  /** The clock of the instances, ms. */
  readonly now: () => number;
}

/** Watches the Nodes of a stage until the function that it returns is called. An error ends one look only. */
export function startCloudController({ cluster, instances, now }: CloudControllerOptions): () => void {
  const settled = new Set<string>();
  let isLooking = false;
  const look = async (): Promise<void> => {
    const ended = [...instances()].filter(({ id, state }) => state === "terminated" && !settled.has(id));
    if (ended.length === 0) return;
    const { items } = await cluster.get<{ readonly items: readonly WatchedNode[] }>("/api/v1/nodes");
    const { remove, halt } = endOfNodes(items, ended);
    for (const nodeName of halt) await cluster.halt({ nodeName });
    if (remove.length > 0) await cluster.kubectl("delete", "node", ...remove, "--wait=false", "--ignore-not-found");
    const present = new Set(items.map(({ spec }) => spec.providerID));
    for (const one of ended) if (!present.has(providerIdOf(one)) && now() - (one.terminatedAt ?? now()) > LATE_JOIN_MS) settled.add(one.id);
  };
  const timer = setInterval(() => {
    if (isLooking) return;
    isLooking = true;
    look()
      .catch(() => {})
      .finally(() => {
        isLooking = false;
      });
  }, PERIOD_MS);
  timer.unref();
  return () => clearInterval(timer);
}
