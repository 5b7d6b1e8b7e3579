import { hydrated } from "../../core/lifecycle/hydration.ts";
import type { Instance } from "../../core/model/instance.ts";
import type { NodeClaimRecord } from "../../core/model/node-claim-record.ts";
import type { LifecycleDeps } from "../shared/cluster-deps.ts";
import { ignoreConflict } from "../shared/optimistic.ts";

/**
 * After an update of the product every record may lack fields; the next sweep takes the rest. No benchmark has tuned
 * it.
 */
const MAX_UPDATES_PER_SWEEP = 200;

/**
 * Completes records with what EC2 reports about their instances beyond what the launch returned
 * (karpenter: pkg/controllers/nodeclaim/hydration/controller.go, Controller.Reconcile). A record that another has
 * written meanwhile is left to the next sweep.
 */
export async function hydrateRecords(
  records: readonly NodeClaimRecord[],
  instances: readonly Instance[],
  { store }: Pick<LifecycleDeps, "store">,
): Promise<void> {
  const byId = new Map(instances.map((instance) => [instance.id, instance]));
  const news = records.flatMap((record) => {
    const instance = byId.get(record.instance?.id ?? "");
    return (instance && hydrated(record, instance)) ?? [];
  });
  for (const next of news.slice(0, MAX_UPDATES_PER_SWEEP)) await ignoreConflict(store.update(next));
}
