import { KARPENTER_LEASE, type KubernetesLease, runningKarpenter } from "#core/model/karpenter-lease.ts";
import { RefusedError } from "#core/ports/errors.ts";
import { PROGRAM } from "#settings/program.ts";
import type { ClusterDeps } from "./cluster-deps.ts";
import { publishOnce } from "./publish-once.ts";

const LOG_WINDOW_MS = 10 * 60_000;
const EVENT_WINDOW_MS = 60 * 60_000;

type BesideDeps = Pick<ClusterDeps, "cluster" | "kubernetes" | "store" | "settings" | "memory" | "log" | "now">;

/**
 * Whether a Karpenter with the same NodePools runs in the cluster. Two autoscalers would both launch nodes for each
 * pod, and each would undo the other's disruptions, so while it runs nothing new is decided here: no plan, no
 * disruption, no status. NodeClaims that have a record continue. One sentence says so, as an error in the log and on
 * each NodePool. The setting BESIDE_KARPENTER turns this off.
 * @param maxAgeMs how long ago this process may have seen that none runs, for a decision that another one confirms
 */
export async function isPausedForKarpenter(deps: BesideDeps, maxAgeMs = 0): Promise<boolean> {
  if (deps.settings.besideKarpenter) return false;
  const now = deps.now();
  if (deps.memory.recall("noKarpenter", now, { maxAgeMs })) return false;
  const leases = await karpenterLeases(deps);
  const running = runningKarpenter(leases, now);
  if (running === undefined) {
    deps.memory.keep("noKarpenter", true, now);
    return false;
  }
  await report(running, deps);
  return true;
}

/** Without the right to read Leases no Karpenter is seen; an older release's manifests do not grant the right. */
async function karpenterLeases({ kubernetes, cluster, store, log, now }: BesideDeps): Promise<readonly KubernetesLease[]> {
  try {
    return await kubernetes.list("Lease", { fieldSelector: `metadata.name=${KARPENTER_LEASE}` });
  } catch (error) {
    if (!(error instanceof RefusedError)) throw error;
    if (await store.isFirstWithin(cluster.name, "beside-karpenter/refused", now(), EVENT_WINDOW_MS))
      log.error(
        `Leases cannot be read, so a Karpenter that runs beside would not be noticed; apply the manifests of this release again: ${PROGRAM} manifests, as docs/deploy.md says`,
        { error: error.message },
      );
    return [];
  }
}

async function report({ metadata, spec }: KubernetesLease, deps: BesideDeps): Promise<void> {
  const { cluster, kubernetes, store, log, now } = deps;
  const lease = `${metadata.namespace}/${metadata.name}`;
  const message = `Karpenter runs in this cluster, too: its Lease ${lease} is being renewed. Nothing is launched or disrupted by karpenter-serverless meanwhile; take its nodes over with ${PROGRAM} adopt --cluster ${cluster.name}, scale its Deployment to 0, or set BESIDE_KARPENTER=true`;
  if (await store.isFirstWithin(cluster.name, "beside-karpenter", now(), LOG_WINDOW_MS))
    log.error(message, { holder: spec?.holderIdentity });
  for (const pool of await kubernetes.list("NodePool")) {
    const about = { kind: "NodePool", metadata: pool.metadata } as const;
    await publishOnce({ type: "Warning", reason: "KarpenterRuns", message, about }, deps, EVENT_WINDOW_MS);
  }
}
