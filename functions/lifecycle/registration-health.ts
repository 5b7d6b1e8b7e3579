import type { NodeClaim } from "../../core/model/node-claim.ts";
import type { NodePool } from "../../core/model/node-pool.ts";
import { type RegistrationOutcome, withRegistration } from "../../core/node-pool/registration-health.ts";
import { ConflictError } from "../../core/ports/errors.ts";
import type { LifecycleDeps } from "../shared/cluster-deps.ts";

const TRIES = 3;

/**
 * Lets a claim's pool know how its registration ended (nodepool.md §6). Informational: what goes wrong here is logged and keeps no node from coming up.
 */
export async function recordRegistrationHealth(claim: NodeClaim, outcome: RegistrationOutcome, deps: LifecycleDeps): Promise<void> {
  const owner = claim.metadata.ownerReferences?.find(({ kind }) => kind === "NodePool");
  if (owner === undefined) return;
  try {
    for (let tries = 0; tries < TRIES; tries++) {
      const pool = await deps.kubernetes.get("NodePool", owner.name);
      if (pool === undefined || pool.metadata.uid !== owner.uid) return;
      if (await write(pool, withRegistration(pool, outcome, deps.now()), deps)) return;
    }
  } catch (error) {
    deps.log.error("failed telling a NodePool how a registration ended", { NodePool: { name: owner.name }, error });
  }
}

/** False when somebody else has written the pool meanwhile. */
async function write(before: NodePool, after: NodePool, { kubernetes }: LifecycleDeps): Promise<boolean> {
  try {
    const marked = after.metadata === before.metadata ? before : await kubernetes.update("NodePool", after);
    if (after.status && after.status.conditions !== before.status?.conditions) {
      await kubernetes.updateStatus("NodePool", { ...marked, status: after.status });
    }
    return true;
  } catch (error) {
    if (error instanceof ConflictError) return false;
    throw error;
  }
}
