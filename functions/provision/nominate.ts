import type { Snapshot } from "#core/model/snapshot.ts";
import { nodeNominations } from "#core/provisioning/node-nominations.ts";
import type { ClusterDeps } from "../shared/cluster-deps.ts";
import { heedsNominations, nominatePods } from "../shared/nominate-pods.ts";

/**
 * Nominates the nodes that pods were planned for, for kube-scheduler. A kill costs only the hint, and a pod that was
 * written meanwhile is left to the next pass: kube-scheduler clears the field when it tries the pod in vain, so
 * each pass sets what is missing.
 */
export async function nominateNodes(snapshot: Snapshot, deps: ClusterDeps): Promise<void> {
  const nominations = nodeNominations(snapshot);
  if (nominations.length > 0 && (await heedsNominations(deps))) await nominatePods(nominations, deps);
}
