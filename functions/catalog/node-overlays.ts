import { instanceTypesByPool } from "#adapters/kubernetes/snapshot.ts";
import { equalJson } from "#core/lib/json.ts";
import type { EC2NodeClass } from "#core/model/node-class.ts";
import type { NodeOverlay } from "#core/model/node-overlay.ts";
import type { NodePool } from "#core/model/node-pool.ts";
import { nodeOverlayStatus } from "#core/node-overlay/status.ts";
import { explainVerdict, type OverlayVerdict } from "#core/node-overlay/verdict.ts";
import { instanceTypesFor } from "../shared/instance-types.ts";
import { ignoreConflictOrGone } from "../shared/optimistic.ts";
import { overlaidTypes } from "../shared/overlaid-types.ts";
import { definitionWakeUps } from "./definition-wake-ups.ts";
import type { CatalogDeps } from "./deps.ts";

/** A NodeOverlay, and whether it is applied. */
export type Judged = readonly [NodeOverlay, OverlayVerdict];

/**
 * Whether each NodeOverlay is applied to what the NodePools can launch now; empty while the feature gate is off. Only
 * the status is made from this: decisions evaluate the NodeOverlays that they read themselves.
 */
export async function judgeOverlays(
  nodePools: readonly NodePool[],
  nodeClasses: readonly EC2NodeClass[],
  { kubernetes, settings, ...deps }: CatalogDeps,
): Promise<readonly Judged[]> {
  if (!settings.nodeOverlay) return [];
  const overlays = await kubernetes.list("NodeOverlay");
  if (overlays.length === 0) return [];
  const catalogue = await deps.catalogue();
  // Unavailable offerings match a NodeOverlay too, so they need not be read.
  const types = instanceTypesByPool(nodePools, nodeClasses, (_nodePool, nodeClass) => instanceTypesFor(catalogue, nodeClass, [], settings));
  const { verdicts } = overlaidTypes(overlays, nodePools, types);
  return overlays.flatMap((overlay) => {
    const verdict = verdicts.get(overlay.metadata.name);
    return verdict === undefined ? [] : [[overlay, verdict] as const];
  });
}

/**
 * Writes the status of a NodeOverlay if it has changed, and has plans made, because prices and capacity may differ now.
 */
export async function refreshNodeOverlay(
  [overlay, verdict]: Judged,
  { kubernetes, wakeUps, cluster, log, now }: CatalogDeps,
): Promise<void> {
  const { name } = overlay.metadata;
  const status = nodeOverlayStatus(overlay, verdict, now());
  if (equalJson(status, overlay.status ?? {})) return;
  // The write of another run wakes the next pass.
  if ((await ignoreConflictOrGone(kubernetes.updateStatus("NodeOverlay", { ...overlay, status }))) === undefined) return;
  if (verdict.outcome !== "Applied") log.error("nodeoverlay is not applied", { NodeOverlay: { name }, error: explainVerdict(verdict) });
  await wakeUps.wake(definitionWakeUps(cluster.name, "NodeOverlayChanged", "NodeOverlay", name));
}
