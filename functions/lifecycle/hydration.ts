import { learned } from "../../core/lifecycle/hydration.ts";
import type { Instance, NodeClaimRecord } from "../../core/model/record.ts";
import { ConflictError } from "../../core/ports/errors.ts";
import type { LifecycleDeps } from "../shared/cluster-deps.ts";

/** After an update of the product every record may have something to learn; the next sweep takes the others. */
const MOST_AT_ONCE = 200;

/** Writes down what EC2 says of machines beyond what their launch told. Whoever has written a record meanwhile comes first; the next sweep tries again. */
export async function learn(
  records: readonly NodeClaimRecord[],
  instances: readonly Instance[],
  { store }: Pick<LifecycleDeps, "store">,
): Promise<void> {
  const byId = new Map(instances.map((instance) => [instance.id, instance]));
  const news = records.flatMap((record) => {
    const instance = byId.get(record.instance?.id ?? "");
    return (instance && learned(record, instance)) ?? [];
  });
  for (const next of news.slice(0, MOST_AT_ONCE)) {
    try {
      await store.update(next);
    } catch (error) {
      if (!(error instanceof ConflictError)) throw error;
    }
  }
}
