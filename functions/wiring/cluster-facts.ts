import type { ClusterFacts } from "../../core/launch/user-data-input.ts";
import type { Log } from "../../core/ports/log.ts";
import type { NodeClaimStore } from "../../core/ports/node-claim-store.ts";
import type { ClusterConfig } from "../adapters/cluster-list.ts";

/**
 * Descriptions of clusters by EKS, stored in the table: most cold starts then need one read instead of EKS's client,
 * its code and a call.
 */
export interface FactsOptions {
  readonly store: Pick<NodeClaimStore, "getDocument" | "putDocument">;
  readonly describe: (cluster: ClusterConfig) => Promise<ClusterFacts>;
  readonly log: Log;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** How long a description is used. Endpoint and service network never change; the certificate authority rarely does. */
const HOLDS_MS = 3_600_000;

interface Remembered {
  readonly describedAt: number;
  /** The settings that the facts were made with; other settings invalidate them. */
  readonly config: Pick<ClusterConfig, "endpoint" | "caBundle" | "roleArn">;
  readonly facts: ClusterFacts;
}

/**
 * Reads what nodes need to join a cluster. An old description is asked for again, and used all the same when EKS cannot
 * be reached; a failure of the table only costs a call of EKS. Rejects when a cluster without a stored description
 * cannot be described.
 */
export function clusterFacts({ store, describe, log, now }: FactsOptions): (cluster: ClusterConfig) => Promise<ClusterFacts> {
  return async (cluster) => {
    const document = `cluster/${cluster.name}`;
    const { endpoint, caBundle, roleArn } = cluster;
    const config = JSON.stringify({ endpoint, caBundle, roleArn });
    const remembered = await recall(document).catch(() => undefined);
    const known = remembered !== undefined && JSON.stringify(remembered.config) === config ? remembered : undefined;
    if (known !== undefined && now() - known.describedAt < HOLDS_MS) return known.facts;
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
