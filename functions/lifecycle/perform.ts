import { adopted } from "#core/history/claim-entries.ts";
import type { Action } from "#core/lifecycle/action.ts";
import { refuseCreation } from "#core/lifecycle/advance.ts";
import { withConditions } from "#core/lifecycle/claim-status.ts";
import { isAlive } from "#core/lifecycle/garbage-collection.ts";
import { FOREIGN_INSTANCE, foreignInstance, isDoneWith, isLaunchedByOther } from "#core/lifecycle/identity.ts";
import { withFinalizer, withoutFinalizer } from "#core/lifecycle/registration.ts";
import { NODE_WRITE_REFUSED } from "#core/lifecycle/time-limits.ts";
import { conditionOf } from "#core/model/conditions.ts";
import { INTENT, MIN_VALUES_RELAXED, TERMINATION_FINALIZER, ZONE_ID } from "#core/model/labels.ts";
import type { Node } from "#core/model/node.ts";
import type { NodeClaim } from "#core/model/node-claim.ts";
import type { NodeClaimRecord } from "#core/model/node-claim-record.ts";
import { ConflictError, NotFoundError, RefusedError } from "#core/ports/errors.ts";
import { instanceFromStatus, recordFromClaim } from "#core/rebuild/record.ts";
import { isPausedForKarpenter } from "../shared/beside-karpenter.ts";
import { recordByProviderId } from "../shared/claims-by-provider-id.ts";
import type { LifecycleDeps } from "../shared/cluster-deps.ts";
import { interruptAsNoticed } from "../shared/early-notices.ts";
import { ignoreConflict } from "../shared/optimistic.ts";
import { publishOnce } from "../shared/publish-once.ts";
import { publishFinalized, writeStatus } from "../shared/write-status.ts";
import { forgetPart, type Known, keep, keepNode, type Performed } from "./known.ts";
import { findInstance, launch, launchedInstance, prepareLaunch, writeLaunched } from "./launch/launch.ts";
import {
  closeLaunch,
  findGroup,
  joinLaunch,
  launchGroup,
  leaveLaunch,
  tagInstance,
  takeForEnd,
  takeFromGroup,
} from "./launch/launch-group.ts";
import { claimLogFields } from "./log-fields.ts";
import { terminateInstance } from "./measured-fleet.ts";
import { nominateHeld } from "./nominate-held.ts";
import { openTogether } from "./open-together.ts";
import { recordRegistrationHealth } from "./registration-health.ts";

/**
 * Performs one action of a step. Each is one remote call that may be repeated, or two of which the next pass does the
 * second when it finds it missing.
 */
export async function perform(action: Action, name: string, known: Known, deps: LifecycleDeps): Promise<Performed> {
  const { kubernetes, store, log, metrics } = deps;
  switch (action.type) {
    case "Adopt":
      return adopt(action.claim, deps);
    case "CreateClaim":
      return createClaim(action.record, deps);
    case "WriteRecord":
      return keep({ record: await store.update(action.record, action.history) });
    case "PrepareLaunch":
      return prepareLaunch(action.record, action.claim, deps);
    case "Launch":
      return launch(action.record, action.claim, deps, known.nodeClass);
    case "JoinLaunch":
      return joinLaunch(action.record, action.claim, deps);
    case "CloseLaunch":
      return closeLaunch(action, deps);
    case "LaunchGroup":
      return launchGroup(action, deps, known.nodeClass);
    case "TakeFromGroup":
      return takeFromGroup(action, deps, known.nodeClass);
    case "LeaveLaunch":
      return leaveLaunch(action, deps);
    case "TakeForEnd":
      return takeForEnd(action, deps);
    case "FindGroup":
      return findGroup(action, deps);
    case "TagInstance":
      return tagInstance(known.record ?? action.record, deps);
    case "WriteLaunched":
      return writeLaunched(action.record, action.claim, deps, known.nodeClass);
    case "FindInstance":
      return findInstance(action.record, deps);
    case "WriteClaim":
      return keep({ claim: await writeClaim(action.claim, action, known.claim, deps) });
    case "DeleteClaim":
      return keepLeft(await kubernetes.delete("NodeClaim", name, { known: action.claim }), "claim", (claim) => keep({ claim }));
    case "WriteNode":
      return writeNode(action.node, name, known, deps);
    case "NominatePods":
      await nominateHeld([action], deps);
      return "done";
    case "OpenTogether":
      return openTogether(action.nodes, known, deps);
    case "DeleteNode":
      return keepLeft(await kubernetes.delete("Node", action.node.metadata.name, { known: action.node }), "nodes", keepNode);
    case "Evict":
      await evict(action, deps);
      return "done";
    case "DeletePod":
      await deletePod(action, deps);
      return "done";
    case "TerminateInstance":
      await terminateInstance(
        action.instanceId,
        { zone: known.record?.instance?.zone, zoneId: known.claim?.metadata.labels?.[ZONE_ID] },
        deps,
      );
      return forgetPart("instance");
    case "Wake":
      await deps.wakeUps.wake([action.wakeUp]);
      return "done";
    case "Forget":
      await store.remove(action.record, action.history);
      return "done";
    case "Event":
      await publishOnce(action.event, deps);
      return "done";
    case "Log":
      log[action.level](action.message, { ...claimLogFields(name), ...action.fields });
      return "done";
    case "Count":
      metrics.count(action.metric, action.labels, action.by);
      return "done";
    case "Observe":
      metrics.observe(action.metric, action.labels, action.seconds);
      return "done";
    case "RecordRegistration":
      await recordRegistrationHealth(action.claim, action.outcome, deps);
      return "done";
  }
}

/** What a deletion has left; where the API server has not returned it, it is read again. */
const keepLeft = <T extends object>(left: T | boolean, part: keyof Known, kept: (object: T) => Performed): Performed =>
  typeof left === "object" ? kept(left) : forgetPart(part);

/** Equal events about a NodeClaim whose instance has another owner within this time are published once. */
const FOREIGN_WINDOW_MS = 60 * 60_000;

/**
 * Creates the record of a NodeClaim that has none: a user created the NodeClaim, or the table was lost. What was
 * launched for it is read from its status or found in EC2 by its UID, because the table may have been lost between the
 * launch and the write of the status. A NodeClaim that names an instance of another owner, be it another NodeClaim with
 * a record, is left alone: it never gets a record, so nothing ends that instance.
 */
async function adopt({ metadata }: NodeClaim, deps: LifecycleDeps): Promise<Performed> {
  const { cluster, store, fleet, kubernetes, now, newId } = deps;
  // A record is removed after its NodeClaim. The NodeClaim that was read beside it may be gone by now, and a record for
  // it would count as a node that stays.
  const claim = await kubernetes.get("NodeClaim", metadata.name);
  if (claim === undefined || claim.metadata.uid !== metadata.uid || isDoneWith(claim)) return "done";
  // A NodeClaim that nobody has launched yet may be one that Karpenter is about to launch.
  if (claim.metadata.annotations?.[INTENT] === undefined && (await isPausedForKarpenter(deps))) return "done";
  const shown = instanceFromStatus(claim);
  const owner = await recordByProviderId(claim.status?.providerID ?? "", store);
  if (owner !== undefined && (owner.name !== claim.metadata.name || owner.cluster !== cluster.name)) {
    await leaveForeign(claim, `NodeClaim ${owner.name} of cluster ${owner.cluster} has instance ${shown?.id}`, deps);
    return "done";
  }
  if (isLaunchedByOther(claim)) return "done";
  const [found] = shown ? await fleet.describe([shown.id]) : [];
  const foreign = found && isAlive(found) ? foreignInstance(found, { cluster: cluster.name, name: claim.metadata.name }) : undefined;
  if (foreign !== undefined) {
    await leaveForeign(claim, foreign, deps);
    return "done";
  }
  const launched = shown ?? (await launchedInstance(fleet, cluster.name, claim.metadata.uid ?? ""));
  const record = recordFromClaim(claim, { cluster: cluster.name, now: now(), id: newId(), launched, ...(found && { tags: found.tags }) });
  await interruptAsNoticed(await store.create(record, [adopted(record, now())]), deps);
  return "look again";
}

/** Tells of the NodeClaim, and lets it go when it is being deleted: nothing of this cluster hangs on it. */
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

async function createClaim(record: NodeClaimRecord, deps: LifecycleDeps): Promise<Performed> {
  const { kubernetes, metrics, log } = deps;
  const { metadata } = record.manifest;
  const marked = {
    ...metadata,
    annotations: { ...metadata.annotations, [INTENT]: record.intentId },
    finalizers: withFinalizer(metadata.finalizers),
  };
  let claim: NodeClaim;
  try {
    claim = await kubernetes.create("NodeClaim", { ...record.manifest, metadata: marked });
  } catch (error) {
    // By its schema, a policy, a webhook or RBAC. The same NodeClaim would be refused again.
    if (!(error instanceof RefusedError || error instanceof NotFoundError)) throw error;
    for (const action of refuseCreation({ now: deps.now() }, record, error.message).actions) await perform(action, record.name, {}, deps);
    return "look again";
  }
  log.debug("wrote nodeclaim", { ...claimLogFields(record.name), finalizer: TERMINATION_FINALIZER });
  metrics.count("nodeclaims_created_total", {
    reason: record.reason,
    nodepool: record.nodePool ?? "",
    min_values_relaxed: metadata.annotations?.[MIN_VALUES_RELAXED] ?? "false",
  });
  return keep({ claim });
}

/**
 * A policy or missing rights may refuse the write for ever: time-outs must run all the same, and the NodeClaim says why
 * its node is not registered.
 */
async function writeNode(node: Node, name: string, known: Known, deps: LifecycleDeps): Promise<Performed> {
  try {
    const written = await deps.kubernetes.update("Node", node);
    if (
      isFreed(
        known.nodes?.find(({ metadata }) => metadata.name === node.metadata.name),
        node,
      )
    )
      await publishFinalized("Node", node, TERMINATION_FINALIZER, deps);
    return keepNode(written);
  } catch (error) {
    // Kubelet and the node controllers write a node most while it joins: then it alone is read again.
    if (error instanceof ConflictError) return { lookAgainWith: { record: known.record, claim: known.claim, instance: known.instance } };
    if (!(error instanceof RefusedError)) throw error;
    deps.log.error("node cannot be written", { ...claimLogFields(name), Node: { name: node.metadata.name }, error: error.message });
    const message = `Node ${node.metadata.name} cannot be written: ${error.message}`;
    await publishOnce({ type: "Warning", reason: NODE_WRITE_REFUSED, message, about: { kind: "NodeClaim", metadata: { name } } }, deps);
    if (known.claim && conditionOf(known.claim.status?.conditions, "Registered")?.status !== "True")
      await sayRefused(known.claim, message, deps);
    return "later";
  }
}

async function sayRefused(claim: NodeClaim, message: string, deps: LifecycleDeps): Promise<void> {
  const { conditions: before } = claim.status ?? {};
  const refused = { type: "Registered", status: "Unknown", reason: NODE_WRITE_REFUSED, message } as const;
  const conditions = withConditions({ now: deps.now() }, claim, [refused]);
  if (conditions === before) return;
  await ignoreConflict(writeStatus("NodeClaim", { ...claim, status: { ...claim.status, conditions } }, before, deps));
}

/** Metadata and status are two writes; the second carries the resource version that the first returned. */
async function writeClaim(
  claim: NodeClaim,
  { metadata, status }: { readonly metadata: boolean; readonly status: boolean },
  before: NodeClaim | undefined,
  deps: Pick<LifecycleDeps, "kubernetes">,
): Promise<NodeClaim> {
  const written = metadata ? await deps.kubernetes.update("NodeClaim", claim) : claim;
  if (metadata && isFreed(before, claim)) await publishFinalized("NodeClaim", claim, TERMINATION_FINALIZER, deps);
  if (!status) return written;
  return writeStatus("NodeClaim", { ...written, ...(claim.status && { status: claim.status }) }, before?.status?.conditions, deps);
}

type WithFinalizers = { readonly metadata: { readonly finalizers?: readonly string[] } };

/** Whether the write takes Karpenter's finalizer away. */
function isFreed(before: WithFinalizers | undefined, after: WithFinalizers): boolean {
  const has = (object: WithFinalizers | undefined): boolean => object?.metadata.finalizers?.includes(TERMINATION_FINALIZER) ?? false;
  return has(before) && !has(after);
}

async function evict({ pod, reason }: Extract<Action, { type: "Evict" }>, deps: LifecycleDeps): Promise<void> {
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
}

async function deletePod({ pod, gracePeriodSeconds }: Extract<Action, { type: "DeletePod" }>, deps: LifecycleDeps): Promise<void> {
  const { name, namespace = "default", uid } = pod.metadata;
  await deps.kubernetes.delete("Pod", name, { namespace, gracePeriodSeconds, ...(uid === undefined ? {} : { uid }) });
  const message = `Deleting the pod to accommodate the end of its node; it was granted ${gracePeriodSeconds} seconds. This bypasses its PodDisruptionBudgets and the do-not-disrupt annotation.`;
  await publishOnce({ type: "Normal", reason: "Disrupted", message, about: { kind: "Pod", metadata: pod.metadata } }, deps);
}
