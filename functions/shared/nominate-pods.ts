import { RefusedError } from "#core/ports/errors.ts";
import type { NodeNomination } from "#core/provisioning/node-nominations.ts";
import type { ClusterDeps } from "./cluster-deps.ts";
import { ignoreConflictOrGone } from "./optimistic.ts";
import { someAtATime } from "./some-at-a-time.ts";

/** The first minor version of Kubernetes 1 in which kube-scheduler expects nominations by others (KEP-5278). */
const FIRST_MINOR = 35;

/** A control plane is upgraded to another minor version within half an hour or more. No benchmark has tuned it. */
const VERSION_AGE_MS = 10 * 60_000;

/** Keyed by the cluster's facts object, which lives as long as the process serves the cluster. */
const versions = new WeakMap<object, { readonly at: number; readonly version: string }>();

/** Whether kube-scheduler heeds nominations. */
export async function heedsNominations({
  cluster,
  kubernetes,
  now,
}: Pick<ClusterDeps, "cluster" | "kubernetes" | "now">): Promise<boolean> {
  const at = now();
  const known = versions.get(cluster);
  if (known !== undefined && Math.abs(at - known.at) < VERSION_AGE_MS) return isHonoured(known.version);
  const version = await kubernetes.version();
  versions.set(cluster, { at, version });
  return isHonoured(version);
}

/** Whether kube-scheduler of this version ("1.36") heeds nominations by others. */
function isHonoured(version: string): boolean {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  return major > 1 || minor >= FIRST_MINOR;
}

/** Sets `status.nominatedNodeName`, one request for each pod; a pod that was written meanwhile is left out. */
export async function nominatePods(nominations: readonly NodeNomination[], { kubernetes, log }: ClusterDeps): Promise<void> {
  try {
    await someAtATime(nominations, ({ pod, node }) => ignoreConflictOrGone(kubernetes.nominate(pod, node)));
    log.debug("nominated nodes for pods", { pods: nominations.length });
  } catch (error) {
    // Pods find a node without the hint, so a role without the right to write it (infra/rbac) stops nothing.
    if (!(error instanceof RefusedError)) throw error;
    log.error("could not nominate nodes for pods", { error });
  }
}
