import type { NodeClaim } from "#core/model/node-claim.ts";
import type { NodePool } from "#core/model/node-pool.ts";
import { isSteady, type RegistrationOutcome, withRegistration } from "#core/node-pool/registration-health.ts";
import type { LifecycleDeps } from "../shared/cluster-deps.ts";
import { ignoreConflict, retryOnConflict } from "../shared/optimistic.ts";
import { ProcessMemory } from "../shared/process-memory.ts";
import { writeStatus } from "../shared/write-status.ts";

const MAX_TRIES = 3;

/**
 * Records on the NodePool how a NodeClaim's registration ended
 * (karpenter: pkg/controllers/nodeclaim/lifecycle/registration.go, Registration.updateNodePoolRegistrationHealth). Only
 * informational: a failure is logged, and nodes register all the same. NodeClaims of one invocation that register at
 * the same moment share one read and one write: of many nodes at once, each would otherwise race all others.
 */
export async function recordRegistrationHealth(claim: NodeClaim, outcome: RegistrationOutcome, deps: LifecycleDeps): Promise<void> {
  const owner = claim.metadata.ownerReferences?.find(({ kind }) => kind === "NodePool");
  if (owner === undefined) return;
  const { cluster, now, memory, invocation = new ProcessMemory() } = deps;
  // Nodes that join together succeed for the same NodePool: for some seconds one success counts for all.
  if (outcome.registered && memory.recall("healthyNodePools", now(), { key: owner.uid })) return;
  const key = `${cluster.name}/${owner.uid}`;
  const last = invocation.recall("registrationBatches", now(), { key });
  if (last !== undefined && !last.isClosed) {
    last.outcomes.push(outcome);
    return last.written;
  }
  const outcomes = [outcome];
  const take = (): readonly RegistrationOutcome[] => {
    batch.isClosed = true;
    return outcomes;
  };
  const written = (last?.written ?? Promise.resolve()).then(() => record(owner, take, deps));
  const batch = { outcomes, isClosed: false, written };
  invocation.keep("registrationBatches", batch, now(), key);
  return written;
}

interface Owner {
  readonly name: string;
  readonly uid: string;
}

/** @param take gives the outcomes, and no others are added from then on */
async function record({ name, uid }: Owner, take: () => readonly RegistrationOutcome[], deps: LifecycleDeps): Promise<void> {
  try {
    const once = async (): Promise<void> => {
      const pool = await deps.kubernetes.get("NodePool", name);
      const after = take().reduce((one: NodePool | undefined, outcome) => one && withRegistration(one, outcome, deps.now()), pool);
      if (pool === undefined || after === undefined || pool.metadata.uid !== uid) return;
      await write(pool, after, deps);
      if (isSteady(after)) deps.memory.keep("healthyNodePools", true, deps.now(), uid);
      else deps.memory.forget("healthyNodePools", uid);
    };
    await ignoreConflict(retryOnConflict(MAX_TRIES, once));
  } catch (error) {
    deps.log.error("failed telling a NodePool how a registration ended", { NodePool: { name }, error });
  } finally {
    take();
  }
}

/** Writes only what differs. Throws ConflictError when another has written the NodePool since it was read. */
async function write(before: NodePool, after: NodePool, deps: LifecycleDeps): Promise<void> {
  const marked = after.metadata === before.metadata ? before : await deps.kubernetes.update("NodePool", after);
  if (after.status && after.status.conditions !== before.status?.conditions) {
    await writeStatus("NodePool", { ...marked, status: after.status }, before.status?.conditions, deps);
  }
}
