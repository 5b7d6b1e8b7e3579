import type { CloudInventory } from "#core/ports/cloud-inventory.ts";
import type { ClusterDeps } from "../shared/cluster-deps.ts";

/** What the catalog function uses of one cluster and of the AWS account around it. */
export interface CatalogDeps
  extends Pick<
    ClusterDeps,
    "cluster" | "account" | "kubernetes" | "store" | "wakeUps" | "catalogue" | "settings" | "memory" | "log" | "now"
  > {
  readonly inventory: CloudInventory;
}
