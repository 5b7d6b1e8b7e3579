import { withConditions } from "#core/lifecycle/claim-status.ts";
import { claimLogFields } from "#core/lifecycle/log-fields.ts";
import { isFreed } from "#core/lifecycle/registration.ts";
import { NODE_WRITE_REFUSED } from "#core/lifecycle/time-limits.ts";
import { conditionOf } from "#core/model/conditions.ts";
import { TERMINATION_FINALIZER } from "#core/model/labels.ts";
import type { NodeClaim } from "#core/model/node-claim.ts";
import { ConflictError, RefusedError } from "#core/ports/errors.ts";
import type { LifecycleDeps } from "../shared/cluster-deps.ts";
import { ignoreConflict } from "../shared/optimistic.ts";
import { publishOnce } from "../shared/publish-once.ts";
import { publishFinalized, writeStatus } from "../shared/write-status.ts";
import { done, type Performer, requeue, withNode, without } from "./claim-state.ts";

// Actions on nodes and on their pods.

/**
 * A policy or missing rights may refuse the write for ever: time-outs must run all the same, and the NodeClaim shows
 * why its node is not registered.
 */
export const writeNode: Performer<"WriteNode"> = async ({ node }, { name, state, deps }) => {
  try {
    const written = await deps.kubernetes.update("Node", node);
    const before = state.nodes?.find(({ metadata }) => metadata.name === node.metadata.name);
    if (isFreed(before, node)) await publishFinalized("Node", node, TERMINATION_FINALIZER, deps);
    return done(withNode(state, written));
  } catch (error) {
    // Kubelet and the node controllers write a node most while it joins: after a conflict it alone is read again.
    if (error instanceof ConflictError) return requeue({ record: state.record, claim: state.claim, instance: state.instance });
    if (!(error instanceof RefusedError)) throw error;
    deps.log.error("node cannot be written", { ...claimLogFields(name), Node: { name: node.metadata.name }, error: error.message });
    const message = `Node ${node.metadata.name} cannot be written: ${error.message}`;
    await publishOnce({ type: "Warning", reason: NODE_WRITE_REFUSED, message, about: { kind: "NodeClaim", metadata: { name } } }, deps);
    if (state.claim && conditionOf(state.claim.status?.conditions, "Registered")?.status !== "True")
      await writeRefused(state.claim, message, deps);
    return { outcome: "refused" };
  }
};

async function writeRefused(claim: NodeClaim, message: string, deps: LifecycleDeps): Promise<void> {
  const { conditions: before } = claim.status ?? {};
  const refused = { type: "Registered", status: "Unknown", reason: NODE_WRITE_REFUSED, message } as const;
  const conditions = withConditions({ now: deps.now() }, claim, [refused]);
  if (conditions === before) return;
  await ignoreConflict(writeStatus("NodeClaim", { ...claim, status: { ...claim.status, conditions } }, before, deps));
}

/** The API server returns what a deletion has left, or it is read again. */
export const deleteNode: Performer<"DeleteNode"> = async ({ node }, { state, deps }) => {
  const left = await deps.kubernetes.delete("Node", node.metadata.name, { known: node });
  return done(typeof left === "object" ? withNode(state, left) : without(state, "nodes"));
};

export const evict: Performer<"Evict"> = async ({ pod, reason }, { state, deps }) => {
  const outcome = await deps.kubernetes.evict(pod);
  const about = { kind: "Pod", metadata: pod.metadata } as const;
  deps.metrics.count("pods_eviction_requests_total", { code: outcome === "evicted" ? "200" : outcome === "gone" ? "404" : "429" });
  if (outcome === "evicted") {
    deps.metrics.count("pods_drained_total", { reason });
    await publishOnce({ type: "Normal", reason: "Evicted", message: `Evicted pod: ${reason}`, about }, deps);
  }
  if (outcome === "blocked") {
    const message = `Failed to drain node, evicting pod violates a PDB (Pod=${pod.metadata.namespace}/${pod.metadata.name})`;
    await publishOnce({ type: "Warning", reason: "FailedDraining", message, about }, deps);
  }
  return done(state);
};

export const deletePod: Performer<"DeletePod"> = async ({ pod, gracePeriodSeconds }, { state, deps }) => {
  const { name, namespace = "default", uid } = pod.metadata;
  await deps.kubernetes.delete("Pod", name, { namespace, gracePeriodSeconds, ...(uid === undefined ? {} : { uid }) });
  const message = `Deleting the pod to accommodate the end of its node; it was granted ${gracePeriodSeconds} seconds. This bypasses its PodDisruptionBudgets and the do-not-disrupt annotation.`;
  await publishOnce({ type: "Normal", reason: "Disrupted", message, about: { kind: "Pod", metadata: pod.metadata } }, deps);
  return done(state);
};
