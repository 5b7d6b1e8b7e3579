import type { Headroom } from "../../core/capacity-buffers/headroom.ts";
import { bufferStatus, placementOf } from "../../core/capacity-buffers/status.ts";
import { canonicalJson } from "../../core/lib/fnv.ts";
import type { Plan } from "../../core/model/plan.ts";
import type { Snapshot } from "../../core/model/snapshot.ts";
import type { ClusterDeps } from "../shared/cluster-deps.ts";
import { ignoreConflictOrGone } from "../shared/optimistic.ts";

/**
 * Shows in each CapacityBuffer's status what a run made of it (`kubectl get cb`). Written only when it changes. A buffer that was changed or deleted
 * meanwhile is left to the run which that wakes.
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
