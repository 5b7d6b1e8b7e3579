import type { Headroom } from "../../core/capacity-buffers/headroom.ts";
import { bufferStatus, placementOf } from "../../core/capacity-buffers/status.ts";
import { canonicalJson } from "../../core/lib/fnv.ts";
import type { Plan } from "../../core/model/plan.ts";
import type { Snapshot } from "../../core/model/snapshot.ts";
import type { ClusterDeps } from "../shared/cluster-deps.ts";
import { ignoreConflictOrGone } from "../shared/optimistic.ts";

/**
 * Writes the result of a run into the status of each CapacityBuffer (`kubectl get cb`), only when it has changed. A
 * CapacityBuffer that was changed or deleted meanwhile is left to the run that this change wakes.
 */
export async function writeBufferStatus(
  headroom: readonly Headroom[],
  plan: Plan,
  { nominated }: Snapshot,
  { kubernetes, now }: Pick<ClusterDeps, "kubernetes" | "now">,
): Promise<void> {
  await Promise.all(
    headroom.map(async ({ buffer, resolution, pods }) => {
      const status = bufferStatus(buffer, resolution, placementOf({ pods }, plan, nominated), now());
      if (canonicalJson(status) === canonicalJson(buffer.status ?? {})) return;
      await ignoreConflictOrGone(kubernetes.updateStatus("CapacityBuffer", { ...buffer, status }));
    }),
  );
}
