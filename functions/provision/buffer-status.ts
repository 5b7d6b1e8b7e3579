import type { Headroom } from "#core/capacity-buffers/headroom.ts";
import { bufferStatus, placementOf } from "#core/capacity-buffers/status.ts";
import { equalJson } from "#core/lib/json.ts";
import type { Plan } from "#core/model/plan.ts";
import type { Snapshot } from "#core/model/snapshot.ts";
import type { ClusterDeps } from "../shared/cluster-deps.ts";
import { ignoreConflictOrGone } from "../shared/optimistic.ts";
import { writeStatus } from "../shared/write-status.ts";

/**
 * Writes into each CapacityBuffer's status how the plan serves it (`kubectl get cb`), when the status changes. A
 * CapacityBuffer that was changed or deleted meanwhile is left to the run that its change wakes.
 */
export async function writeBufferStatus(
  headroom: readonly Headroom[],
  plan: Plan,
  { nominated }: Snapshot,
  deps: Pick<ClusterDeps, "kubernetes" | "now">,
): Promise<void> {
  await Promise.all(
    headroom.map(async ({ buffer, resolution, pods }) => {
      const status = bufferStatus(buffer, resolution, placementOf({ pods }, plan, nominated), deps.now());
      if (equalJson(status, buffer.status ?? {})) return;
      await ignoreConflictOrGone(writeStatus("CapacityBuffer", { ...buffer, status }, buffer.status?.conditions, deps));
    }),
  );
}
