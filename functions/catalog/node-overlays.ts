import { canonicalJson } from "../../core/lib/fnv.ts";
import type { EC2NodeClass } from "../../core/model/node-class.ts";
import type { NodeOverlay } from "../../core/model/node-overlay.ts";
import type { NodePool } from "../../core/model/node-pool.ts";
import { nodeOverlayStatus } from "../../core/node-overlay/status.ts";
import { explainVerdict, type Verdict } from "../../core/node-overlay/verdict.ts";
import { instanceTypesByPool } from "../adapters/kubernetes/snapshot.ts";
import { instanceTypesFor } from "../shared/instance-types.ts";
import { ignoreConflictOrGone } from "../shared/optimistic.ts";
import { overlaidTypes } from "../shared/overlaid-types.ts";
import type { CatalogDeps } from "./deps.ts";

/** An overlay, and what became of it. */
export type Judged = readonly [NodeOverlay, Verdict];

/**
 * What becomes of each overlay over what the pools can buy now; nothing while the gate is off. Decisions judge for themselves, from what they read:
 * this is for people to see.
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
  // What is sold out for a while is matched all the same, so marks need not be read.
  const types = instanceTypesByPool(nodePools, nodeClasses, (_nodePool, nodeClass) => instanceTypesFor(catalogue, nodeClass, [], settings));
  const { verdicts } = overlaidTypes(overlays, nodePools, types);
  return overlays.flatMap((overlay) => {
    const verdict = verdicts.get(overlay.metadata.name);
    return verdict === undefined ? [] : [[overlay, verdict] as const];
  });
}

/** Writes onto an overlay what became of it, if that has changed; pods that wait may be better off then. */
export async function refreshNodeOverlay(
  [overlay, verdict]: Judged,
  { kubernetes, wakeUps, cluster, log, now }: CatalogDeps,
): Promise<void> {
  const { name } = overlay.metadata;
  const status = nodeOverlayStatus(overlay, verdict, now());
  if (canonicalJson(status) === canonicalJson(overlay.status ?? {})) return;
  // Whoever was ahead of us has changed it, and that change wakes another pass.
  if ((await ignoreConflictOrGone(kubernetes.updateStatus("NodeOverlay", { ...overlay, status }))) === undefined) return;
  if (verdict.outcome !== "Applied") log.error("nodeoverlay is not applied", { NodeOverlay: { name }, error: explainVerdict(verdict) });
  await wakeUps.wake([{ kind: "provision", cluster: cluster.name, cause: "NodeOverlayChanged", detail: name }]);
}
