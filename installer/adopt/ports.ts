import type { Instance } from "#core/model/instance.ts";
import type { NodeClaimStore } from "#core/ports/node-claim-store.ts";
import type { ClusterApi, Stacks } from "../install/ports.ts";

export interface AdoptPorts {
  readonly stacks: Pick<Stacks, "describe" | "metadata">;
  readonly clusterApi: (cluster: string) => Pick<ClusterApi, "list" | "find" | "patch">;
  /** The records in a table. */
  readonly records: (table: string) => Pick<NodeClaimStore, "list" | "create">;
  /** Instances with the cluster's tags. */
  readonly instances: (cluster: string) => Promise<readonly Instance[]>;
  readonly sleep: (ms: number) => Promise<void>;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  readonly newId: () => string;
}
