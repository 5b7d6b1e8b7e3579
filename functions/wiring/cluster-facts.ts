import type { ClusterFacts } from "#core/launch/user-data-input.ts";
import type { Log } from "#core/ports/log.ts";
import type { NodeClaimStore } from "#core/ports/node-claim-store.ts";
import type { ClusterConfig } from "#settings/cluster-list.ts";

/**
 * Where EKS's descriptions of clusters are remembered: most cold starts then need one look-up in the table, and neither
 * a call to EKS nor its client's code.
 */
interface FactsOptions {
  readonly store: Pick<NodeClaimStore, "getDocument" | "putDocument">;
  readonly describe: (cluster: ClusterConfig) => Promise<ClusterFacts>;
  readonly log: Log;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/**
 * How long a description is used. Endpoint and service network of a cluster never change, its certificate authority
 * seldom does; only a cluster that is made again under its name has another.
 */
const MAX_DESCRIPTION_AGE_MS = 3_600_000;

interface Remembered {
  readonly describedAt: number;
  /** The settings that the description was made with; a description made with other settings is not used. */
  readonly config: Pick<ClusterConfig, "endpoint" | "caBundle" | "roleArn">;
  readonly facts: ClusterFacts;
}

/**
 * What nodes need to join a cluster. An old description is replaced, or used once more when EKS does not answer; a
 * table that fails costs only a call to EKS. Rejects when EKS does not describe a cluster of which the table has no
 * description.
 */
export function clusterFacts({
  store,
  describe,
  log,
  now,
}: FactsOptions): (cluster: ClusterConfig, maxAgeMs?: number) => Promise<ClusterFacts> {
  return async (cluster, maxAgeMs = MAX_DESCRIPTION_AGE_MS) => {
    const document = `cluster/${cluster.name}`;
    const { endpoint, caBundle, roleArn } = cluster;
    const config = JSON.stringify({ endpoint, caBundle, roleArn });
    const remembered = await recall(document).catch(() => undefined);
    const known = remembered !== undefined && JSON.stringify(remembered.config) === config ? remembered : undefined;
    if (known !== undefined && now() - known.describedAt < maxAgeMs) return known.facts;
    try {
      const facts = await describe(cluster);
      await remember(document, { describedAt: now(), config: JSON.parse(config) as Remembered["config"], facts });
      return facts;
    } catch (error) {
      if (known === undefined) throw error;
      log.error("failed describing the cluster; what was known stays in use", { cluster: cluster.name, error });
      return known.facts;
    }
  };

  async function recall(document: string): Promise<Remembered | undefined> {
    const found = await store.getDocument(document);
    return found && (JSON.parse(Buffer.from(found.bytes).toString("utf8")) as Remembered);
  }

  async function remember(document: string, remembered: Remembered): Promise<void> {
    try {
      await store.putDocument(document, Buffer.from(JSON.stringify(remembered)), String(remembered.describedAt));
    } catch (error) {
      log.error("failed remembering the cluster's description; it will be asked for again", { error });
    }
  }
}
