import { RefusedError } from "#core/ports/errors.ts";
import type { NodeNomination } from "#core/provisioning/node-nominations.ts";
import type { ClusterDeps } from "./cluster-deps.ts";
import { ignoreConflictOrGone } from "./optimistic.ts";
import { someAtATime } from "./some-at-a-time.ts";

/** The first minor version of Kubernetes 1 in which kube-scheduler expects nominations by others (KEP-5278). */
const FIRST_MINOR = 35;

/** Whether pods are to be nominated: the setting allows it, and kube-scheduler heeds it. */
export async function heedsNominations({
  kubernetes,
  settings,
  memory,
  now,
}: Pick<ClusterDeps, "kubernetes" | "settings" | "memory" | "now">): Promise<boolean> {
  if (!settings.nominateNodes) return false;
  const at = now();
  const known = memory.recall("kubernetesVersion", at);
  const version = known ?? (await kubernetes.version());
  if (known === undefined) memory.keep("kubernetesVersion", version, at);
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
