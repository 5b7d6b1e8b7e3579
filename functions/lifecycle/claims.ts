import { adopted } from "#core/history/claim-entries.ts";
import { isAlive } from "#core/lifecycle/garbage-collection.ts";
import { FOREIGN_INSTANCE, foreignInstance, isDoneWith, isLaunchedByOther } from "#core/lifecycle/identity.ts";
import { claimLogFields } from "#core/lifecycle/log-fields.ts";
import { isFreed, withFinalizer, withoutFinalizer } from "#core/lifecycle/registration.ts";
import { INTENT, MIN_VALUES_RELAXED, TERMINATION_FINALIZER } from "#core/model/labels.ts";
import type { NodeClaim } from "#core/model/node-claim.ts";
import type { NodeClaimRecord } from "#core/model/node-claim-record.ts";
import { NotFoundError, RefusedError } from "#core/ports/errors.ts";
import { instanceFromStatus, recordFromClaim } from "#core/rebuild/record.ts";
import { isPausedForKarpenter } from "../shared/beside-karpenter.ts";
import { recordByProviderId } from "../shared/claims-by-provider-id.ts";
import type { LifecycleDeps } from "../shared/cluster-deps.ts";
import { interruptAsNoticed } from "../shared/early-notices.ts";
import { publishOnce } from "../shared/publish-once.ts";
import { publishFinalized, writeStatus } from "../shared/write-status.ts";
import { done, type Performer, requeue, without } from "./claim-state.ts";
import { launchedInstance } from "./launch/launch.ts";

// Actions on NodeClaims.

/** Equal events about a NodeClaim whose instance has another owner within this time are published once. */
const FOREIGN_WINDOW_MS = 60 * 60_000;

/**
 * Creates the record of a NodeClaim that has none: a user created the NodeClaim, or the table was lost. What was
 * launched for it is read from its status or found in EC2 by its UID, because the table may have been lost between the
 * launch and the write of the status. A NodeClaim that names an instance of another owner, be it another NodeClaim with
 * a record, is left alone: it never gets a record, so nothing ends that instance.
 */
export const adopt: Performer<"Adopt"> = async ({ claim: { metadata } }, { state, deps }) => {
  const { cluster, store, fleet, kubernetes, now, newId } = deps;
  // A record is removed after its NodeClaim. The NodeClaim that was read beside it may be gone by now, and a record for
  // it would count as a node that stays.
  const claim = await kubernetes.get("NodeClaim", metadata.name);
  if (claim === undefined || claim.metadata.uid !== metadata.uid || isDoneWith(claim)) return done(state);
  // A NodeClaim without an instance may be one that Karpenter is about to launch.
  if (claim.metadata.annotations?.[INTENT] === undefined && (await isPausedForKarpenter(deps))) return done(state);
  const shown = instanceFromStatus(claim);
  const owner = await recordByProviderId(claim.status?.providerID ?? "", store);
  if (owner !== undefined && (owner.name !== claim.metadata.name || owner.cluster !== cluster.name)) {
    await leaveForeign(claim, `NodeClaim ${owner.name} of cluster ${owner.cluster} has instance ${shown?.id}`, deps);
    return done(state);
  }
  if (isLaunchedByOther(claim)) return done(state);
  const [found] = shown ? await fleet.describe([shown.id]) : [];
  const foreign = found && isAlive(found) ? foreignInstance(found, { cluster: cluster.name, name: claim.metadata.name }) : undefined;
  if (foreign !== undefined) {
    await leaveForeign(claim, foreign, deps);
    return done(state);
  }
  const launched = shown ?? (await launchedInstance(fleet, cluster.name, claim.metadata.uid ?? ""));
  const record = recordFromClaim(claim, { cluster: cluster.name, now: now(), id: newId(), launched, ...(found && { tags: found.tags }) });
  await interruptAsNoticed(await store.create(record, [adopted(record, now())]), deps);
  return requeue();
};

/**
 * Reports the NodeClaim, and removes our finalizer when it is being deleted: this cluster has nothing that depends on
 * it.
 */
async function leaveForeign(claim: NodeClaim, problem: string, deps: LifecycleDeps): Promise<void> {
  const { metadata } = claim;
  deps.log.error("instance belongs to another owner", { ...claimLogFields(metadata.name), error: problem });
  const message = `NodeClaim is not adopted: ${problem}; delete the NodeClaim, or correct the tags of the instance`;
  await publishOnce(
    { type: "Warning", reason: FOREIGN_INSTANCE, message, about: { kind: "NodeClaim", metadata } },
    deps,
    FOREIGN_WINDOW_MS,
  );
  if (metadata.deletionTimestamp === undefined) return;
  await deps.kubernetes.update("NodeClaim", { ...claim, metadata: { ...metadata, finalizers: withoutFinalizer(metadata.finalizers) } });
}

/** Creates the NodeClaim of a record, with our finalizer; `refused`: why the API server does not accept it. */
export async function createClaim(
  record: NodeClaimRecord,
  { kubernetes, metrics, log }: Pick<LifecycleDeps, "kubernetes" | "metrics" | "log">,
): Promise<{ readonly created: NodeClaim } | { readonly refused: string }> {
  const { metadata } = record.manifest;
  const marked = {
    ...metadata,
    annotations: { ...metadata.annotations, [INTENT]: record.intentId },
    finalizers: withFinalizer(metadata.finalizers),
  };
  let created: NodeClaim;
  try {
    created = await kubernetes.create("NodeClaim", { ...record.manifest, metadata: marked });
  } catch (error) {
    // By its schema, a policy, a webhook or RBAC. The same NodeClaim would be refused again.
    if (!(error instanceof RefusedError || error instanceof NotFoundError)) throw error;
    return { refused: error.message };
  }
  log.debug("wrote nodeclaim", { ...claimLogFields(record.name), finalizer: TERMINATION_FINALIZER });
  metrics.count("nodeclaims_created_total", {
    reason: record.reason,
    nodepool: record.nodePool ?? "",
    min_values_relaxed: metadata.annotations?.[MIN_VALUES_RELAXED] ?? "false",
  });
  return { created };
}

/** Metadata and status are two writes; the second carries the resource version that the first returned. */
export const writeClaim: Performer<"WriteClaim"> = async ({ claim, metadata, status }, { state, deps }) => {
  const before = state.claim;
  const written = metadata ? await deps.kubernetes.update("NodeClaim", claim) : claim;
  if (metadata && isFreed(before, claim)) await publishFinalized("NodeClaim", claim, TERMINATION_FINALIZER, deps);
  if (!status) return done({ ...state, claim: written });
  const shown = { ...written, ...(claim.status && { status: claim.status }) };
  return done({ ...state, claim: await writeStatus("NodeClaim", shown, before?.status?.conditions, deps) });
};

/** The API server returns what a deletion has left, or it is read again. */
export const deleteClaim: Performer<"DeleteClaim"> = async ({ claim: known }, { name, state, deps }) => {
  const left = await deps.kubernetes.delete("NodeClaim", name, { known });
  return done(typeof left === "object" ? { ...state, claim: left } : without(state, "claim"));
};
