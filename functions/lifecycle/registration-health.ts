import type { NodeClaim } from "../../core/model/node-claim.ts";
import type { NodePool } from "../../core/model/node-pool.ts";
import { type RegistrationOutcome, withRegistration } from "../../core/node-pool/registration-health.ts";
import type { LifecycleDeps } from "../shared/cluster-deps.ts";
import { ignoreConflict, retryOnConflict } from "../shared/optimistic.ts";
import { writeStatus } from "../shared/write-status.ts";

const MAX_TRIES = 3;

/**
 * Records on the NodePool how a NodeClaim's registration ended
 * (karpenter: pkg/controllers/nodeclaim/lifecycle/registration.go, Registration.updateNodePoolRegistrationHealth). Only
 * informational: a failure is logged and keeps no node from registering.
 */
export async function recordRegistrationHealth(claim: NodeClaim, outcome: RegistrationOutcome, deps: LifecycleDeps): Promise<void> {
  const owner = claim.metadata.ownerReferences?.find(({ kind }) => kind === "NodePool");
  if (owner === undefined) return;
  try {
    const record = async (): Promise<void> => {
      const pool = await deps.kubernetes.get("NodePool", owner.name);
      if (pool !== undefined && pool.metadata.uid === owner.uid) await write(pool, withRegistration(pool, outcome, deps.now()), deps);
    };
    await ignoreConflict(retryOnConflict(MAX_TRIES, record));
  } catch (error) {
    deps.log.error("failed telling a NodePool how a registration ended", { NodePool: { name: owner.name }, error });
  }
}

/** Writes only what differs. Throws ConflictError when another has written the NodePool since it was read. */
async function write(before: NodePool, after: NodePool, deps: LifecycleDeps): Promise<void> {
  const marked = after.metadata === before.metadata ? before : await deps.kubernetes.update("NodePool", after);
  if (after.status && after.status.conditions !== before.status?.conditions) {
    await writeStatus("NodePool", { ...marked, status: after.status }, before.status?.conditions, deps);
  }
}
