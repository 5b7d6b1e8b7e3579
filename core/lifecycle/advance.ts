// core/lifecycle: the life of one NodeClaim, from the intent to the terminated instance, and garbage collection.
// A view of record, NodeClaim, Node and instance comes in; a step (actions, next wake-up) goes out.
// Remote calls, and why the NodeClaim was made or disrupted, must not be known here.

import { initializedEntries } from "../history/claim-entries.ts";
import { LAUNCH_UNLISTED_MS } from "../launch/attempt.ts";
import { span } from "../lib/duration.ts";
import { hashedNumber } from "../lib/pseudo-random.ts";
import { conditionOf, fromRfc3339, isTrue, rfc3339 } from "../model/conditions.ts";
import { INTENT, NODE_CLASS, NODE_POOL, TERMINATION_FINALIZER } from "../model/labels.ts";
import { isManagedClaim } from "../model/managed.ts";
import type { NodeClaim } from "../model/node-claim.ts";
import type { NodeClaimRecord } from "../model/node-claim-record.ts";
import { isReschedulable } from "../pods/predicates.ts";
import type { Action, ClaimView, Step } from "./action.ts";
import { expiryOf } from "./expiry.ts";
import { isDoneWith, isLaunchedByOther, isStranger } from "./identity.ts";
import { initialize, register } from "./joining.ts";
import { createClaim, groupLaunch, launch } from "./launch.ts";
import { namedPool } from "./log-fields.ts";
import { markTerminating, NODE_DELETED } from "./mark-terminating.ts";
import { endPaused, launchPaused } from "./paused.ts";
import { reboot } from "./reboot.ts";
import { withFinalizer } from "./registration.ts";
import { terminate } from "./termination.ts";

/**
 * The next step of a NodeClaim. Nothing is remembered between two calls: each call compares the record, the
 * NodeClaim and the node, and takes the first step that is missing. A repeated, late or interrupted reconcile therefore
 * does no harm.
 * @example
 * const { actions, again, wakeAt } = advance(await readView(deps, cluster, "default-x7k2p"));
 */
export function advance(view: ClaimView): Step {
  const { record, claim } = view;
  if (record === undefined) return claim === undefined ? { actions: [] } : adopt(claim, view.now);
  if (record.terminating) return terminate(view, record);
  // Garbage collection judges a NodeClaim that vanished because its finalizer was removed by force: it sees whether
  // others vanished too.
  if (claim === undefined) return record.uid === undefined ? createClaim(view, record) : { actions: [] };
  if (isStranger(record, claim)) return { actions: [{ type: "Forget", record }] };
  if (record.uid !== claim.metadata.uid && (record.uid ?? record.instance) !== undefined) return relink(record, claim);
  if (claim.metadata.deletionTimestamp !== undefined) return markTerminating(view, record, "deleted", { detail: CLAIM_DELETED });
  const marked = withMarks(claim, record);
  if (marked) return { actions: [{ type: "WriteClaim", claim: marked, metadata: true, status: false }], again: true };
  if (record.instance === undefined)
    return claim.status?.providerID === undefined ? (launchPaused(view, record) ?? launch(view, record, claim)) : forgotten(record);
  if (!isTrue(claim.status?.conditions, "Launched")) return writeLaunched(record, claim);
  if (!isTrue(claim.status?.conditions, "Registered")) return register(view, record, claim);
  if (isTrue(claim.status?.conditions, "Rebooting")) return reboot(view, record, claim);
  if (!isTrue(claim.status?.conditions, "Initialized")) return initialize(view, record, claim);
  const step = keep(view, record, claim);
  // After all that pods wait for: the tags matter only when both record and NodeClaim are lost. They wait for a
  // reconcile that the sweep asks for: EC2 takes only a few such calls a second.
  const tags = record.initializedAt !== undefined && !step.again ? groupLaunch(view, record, claim) : undefined;
  return tags ? { ...step, actions: [...step.actions, ...tags.actions] } : step;
}

/**
 * A NodeClaim of another provider is ignored, and so is one that another controller launched, or one whose finalizer of
 * ours is removed. A NodeClaim that we made and whose record is lost waits for garbage collection until EC2 must list
 * whatever was launched for it. A NodeClaim that is being deleted may name the instance of one of ours: then only its
 * finalizer is removed.
 */
function adopt(claim: NodeClaim, now: number): Step {
  const isDeleted = claim.metadata.deletionTimestamp !== undefined;
  if (!isManagedClaim(claim) || isDoneWith(claim) || (isLaunchedByOther(claim) && !isDeleted)) return { actions: [] };
  const isOwn = claim.metadata.annotations?.[INTENT] !== undefined && claim.status?.providerID === undefined;
  if (isOwn && now - fromRfc3339(claim.metadata.creationTimestamp) < LAUNCH_UNLISTED_MS) return { actions: [] };
  return { actions: [{ type: "Adopt", claim }] };
}

/**
 * The NodeClaim was lost and created again, or restored: the record continues under its new UID, with the same
 * instance.
 */
function relink(record: NodeClaimRecord, { metadata }: NodeClaim): Step {
  return {
    actions: [{ type: "WriteRecord", record: { ...record, ...(metadata.uid !== undefined && { uid: metadata.uid }) } }],
    again: true,
  };
}

const CLAIM_DELETED = "the deletion of the NodeClaim was requested";

/**
 * The NodeClaim with our finalizer, the label of its NodeClass and the annotation of its record, which NodeClaims made
 * by hand lack; undefined when it has them. The annotation distinguishes it from the NodeClaims of another controller,
 * should the record be lost. The finalizer must precede the launch, because a NodeClaim that is deleted meanwhile must
 * not vanish before its instance.
 */
function withMarks(claim: NodeClaim, { intentId }: NodeClaimRecord): NodeClaim | undefined {
  const { finalizers, labels, annotations } = claim.metadata;
  const isMarked = labels?.[NODE_CLASS] !== undefined && annotations?.[INTENT] !== undefined;
  if (finalizers?.includes(TERMINATION_FINALIZER) && isMarked) return undefined;
  const metadata = {
    ...claim.metadata,
    finalizers: withFinalizer(finalizers),
    labels: { ...labels, [NODE_CLASS]: claim.spec.nodeClassRef.name },
    annotations: { [INTENT]: intentId, ...annotations },
  };
  return { ...claim, metadata };
}

/**
 * The NodeClaim names its instance and the record does not: the table was restored from an older copy, or edited. A
 * launch would make a second machine. Without a record, the next sweep adopts the NodeClaim if the instance is its own.
 */
function forgotten(record: NodeClaimRecord): Step {
  return { actions: [{ type: "Forget", record }] };
}

/** The record has the instance, and the NodeClaim must show it, also after a crash between the two writes. */
function writeLaunched(record: NodeClaimRecord, claim: NodeClaim): Step {
  return { actions: [{ type: "WriteLaunched", record, claim }], again: true };
}

/** An initialized NodeClaim: it stays until its node is deleted or it expires. */
function keep(view: ClaimView, record: NodeClaimRecord, claim: NodeClaim): Step {
  if (view.nodes.some(({ metadata }) => metadata.deletionTimestamp !== undefined))
    return markTerminating(view, record, "deleted", { detail: NODE_DELETED });
  const expiresAt = expiryOf(claim);
  if (expiresAt !== undefined && view.now >= expiresAt) return expire(view, record, claim, expiresAt);
  const dueAt = expiresAt ?? Number.MAX_SAFE_INTEGER;
  if (record.initializedAt !== undefined && record.dueAt === dueAt) return { actions: [] };
  const isNew = record.initializedAt === undefined;
  const nodeName = record.nodeName ?? claim.status?.nodeName;
  const next = { ...record, ...(nodeName !== undefined && { nodeName }), initializedAt: record.initializedAt ?? view.now, dueAt };
  const write: Action = { type: "WriteRecord", record: next, ...(isNew && { history: initializedEntries(next, view.now) }) };
  return { actions: isNew ? [write, ...initialized(record, view.now)] : [write] };
}

/** Ends an expired NodeClaim, as soon as neither a pause nor the disruption rate holds it. */
function expire(view: ClaimView, record: NodeClaimRecord, claim: NodeClaim, expiresAt: number): Step {
  const held = endPaused(view) ?? heldByRate(view, record, claim, expiresAt);
  if (held !== undefined) return held;
  const step = markTerminating(view, record, "expired", { detail: `expireAfter is ${claim.spec.expireAfter ?? "720h"}` });
  const log: Action = {
    type: "Log",
    level: "debug",
    message: "deleting expired nodeclaim",
    fields: namedPool(claim.metadata.labels?.[NODE_POOL]),
  };
  return { ...step, actions: [log, ...expiresTooSoon(record, claim, expiresAt), ...step.actions] };
}

/** Undefined when an expired node may end: it moves no pod, or the cluster's disruption rate lets it go now. */
function heldByRate(view: ClaimView, record: NodeClaimRecord, claim: NodeClaim, expiresAt: number): Step | undefined {
  if (view.pods === undefined) return { actions: [], ask: "pods" };
  if (!view.pods.some(isReschedulable)) return undefined;
  if (view.turn === undefined) return { actions: [], ask: "turn" };
  if (view.turn === "now") return undefined;
  // Nodes that wait for one window do not all ask in its first second.
  const dueAt = view.turn + (hashedNumber(0, claim.metadata.uid ?? record.name) % TURNS_APART_MS);
  const message = `Node has expired ${span(view.now - expiresAt)} ago: the cluster's disruption rate (DISRUPTION_RATE) is used up until ${rfc3339(view.turn)}`;
  const about = { kind: "NodeClaim", metadata: claim.metadata } as const;
  return {
    actions: [
      { type: "WriteRecord", record: { ...record, dueAt } },
      { type: "Event", event: { type: "Normal", reason: "DisruptionBlocked", message, about } },
    ],
    wakeAt: dueAt,
  };
}

/** Within this time nodes that wait for a window ask for their turn, ms. */
const TURNS_APART_MS = 30_000;

/**
 * An event for the owner of a NodePool whose nodes expire before they have served for as long as they take to start:
 * each expires and is replaced, for ever.
 */
function expiresTooSoon(record: NodeClaimRecord, claim: NodeClaim, expiresAt: number): readonly Action[] {
  const { metadata, spec, status } = claim;
  const readyAt = fromRfc3339(conditionOf(status?.conditions, "Initialized")?.lastTransitionTime);
  const startMs = readyAt - fromRfc3339(metadata.creationTimestamp);
  const owner = metadata.ownerReferences?.find(({ kind }) => kind === "NodePool");
  if (owner === undefined || !(expiresAt - readyAt < startMs)) return [];
  const message = `Nodes expire after ${spec.expireAfter}, and take ${Math.round(startMs / 1_000)} s to start: each is replaced as soon as it is ready; raise spec.template.spec.expireAfter`;
  const about = { kind: "NodePool", metadata: { name: owner.name, uid: owner.uid } } as const;
  return [
    { type: "RecordFailedLaunch", record, end: "unused" },
    { type: "Event", event: { type: "Warning", reason: "ExpiresTooSoon", message, about } },
  ];
}

/**
 * How long kube-scheduler is given to bind the pods that a new node was launched for. A plan that comes too early finds
 * the pods' places on that node, so the value costs a needless plan at most. No measurement has tuned it.
 */
const BINDING_MS = 3_000;

/** Nodes that start together are planned for together: the plans after them begin at multiples of so many ms. */
const BINDING_RASTER_MS = 4_000;

/**
 * The command that waits for this NodeClaim can continue. Pods that were meant for its node and have found no room
 * there are planned for again: kube-scheduler, which has given them up before, may write no new condition for them.
 */
function initialized({ cluster, name, commandId }: NodeClaimRecord, now: number): readonly Action[] {
  const delayMs = Math.ceil((now + BINDING_MS) / BINDING_RASTER_MS) * BINDING_RASTER_MS - now;
  const [disruption, provision] = [
    { kind: "disruption", cluster, cause: "ReplacementReady", detail: name },
    { kind: "provision", cluster, cause: "NodeInitialized", detail: name, delayMs },
  ] as const;
  const wakeUps = commandId === undefined ? [provision] : [disruption, provision];
  return wakeUps.map((wakeUp) => ({ type: "Wake", wakeUp }));
}
