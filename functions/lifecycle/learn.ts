import { learned } from "../../core/lifecycle/learn.ts";
import type { Instance, NodeClaimRecord } from "../../core/model/record.ts";
import { ConflictError } from "../../core/ports/errors.ts";
import type { LifecycleDeps } from "../cluster-deps.ts";

/** Writes down what EC2 says of machines beyond what their launch told. Whoever has written a record meanwhile comes first; the next sweep tries again. */
export async function learn(
  records: readonly NodeClaimRecord[],
  instances: readonly Instance[],
  { store }: Pick<LifecycleDeps, "store">,
): Promise<void> {
  const byId = new Map(instances.map((instance) => [instance.id, instance]));
  for (const record of records) {
    const instance = byId.get(record.instance?.id ?? "");
    const next = instance && learned(record, instance);
    if (next === undefined) continue;
    try {
      await store.update(next);
    } catch (error) {
      if (!(error instanceof ConflictError)) throw error;
    }
  }
}
