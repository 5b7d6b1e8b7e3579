import type { Snapshot } from "../../core/model/snapshot.ts";
import { RefusedError } from "../../core/ports/errors.ts";
import { nodeNominations } from "../../core/provisioning/node-nominations.ts";
import type { ClusterDeps } from "../shared/cluster-deps.ts";
import { ignoreConflictOrGone } from "../shared/optimistic.ts";

/** The first minor version of Kubernetes 1 in which kube-scheduler expects nominations by others (KEP-5278). */
const FIRST_MINOR = 35;

/** Requests at a time; the API server shares its capacity with kube-scheduler just then. No benchmark has tuned it. */
const MAX_AT_A_TIME = 10;

/**
 * Tells kube-scheduler the nodes that pods were planned for, one request for each pod. A kill costs only the hint, and
 * a pod that was written meanwhile is left to the next pass: kube-scheduler clears the field when it tries the pod in
 * vain, so each pass sets what is missing.
 */
export async function nominateNodes(snapshot: Snapshot, deps: ClusterDeps): Promise<void> {
  const { kubernetes, settings, log } = deps;
  const nominations = settings.nominateNodes ? nodeNominations(snapshot) : [];
  if (nominations.length === 0 || !isHonoured(await kubernetes.version())) return;
  const queue = nominations.values();
  const work = async (): Promise<void> => {
    for (const { pod, node } of queue) await ignoreConflictOrGone(kubernetes.nominate(pod, node));
  };
  try {
    await Promise.all(Array.from({ length: MAX_AT_A_TIME }, work));
    log.debug("nominated nodes for pods", { controller: "provisioner", pods: nominations.length });
  } catch (error) {
    // Pods find a node without the hint, so a role without the right to write it (infra/rbac) stops nothing.
    if (!(error instanceof RefusedError)) throw error;
    log.error("could not nominate nodes for pods", { controller: "provisioner", error });
  }
}

/** Whether kube-scheduler of this version ("1.36") heeds nominations by others. */
function isHonoured(version: string): boolean {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  return major > 1 || minor >= FIRST_MINOR;
}
