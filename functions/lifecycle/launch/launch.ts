// The launch of one NodeClaim, in steps that the lifecycle decides: render and store the request, send it, store the
// result. Each step may be repeated after a kill. core/launch renders requests and reads results; nothing here chooses
// instance types.

import { launchedEntries, launchFailed } from "#core/history/claim-entries.ts";
import { isListed, pausedAfterMany, refusedFor, withoutLaunch } from "#core/launch/attempt.ts";
import { knownInstance, readOutcome } from "#core/launch/outcome.ts";
import type { FleetRequest, FleetResult } from "#core/model/fleet.ts";
import type { NodeClaim } from "#core/model/node-claim.ts";
import type { NodeClaimRecord } from "#core/model/node-claim-record.ts";
import type { EC2NodeClass } from "#core/model/node-class.ts";
import { ConflictError, NotFoundError, RefusedError, ThrottledError } from "#core/ports/errors.ts";
import type { Fleet } from "#core/ports/fleet.ts";
import { MIN_BOOT_MS } from "#core/provisioning/pending-pods.ts";
import { launchedFor } from "#core/rebuild/launched.ts";
import { recordedInstance } from "#core/rebuild/record.ts";
import type { LifecycleDeps } from "../../shared/cluster-deps.ts";
import { interruptAsNoticed } from "../../shared/early-notices.ts";
import { type ActionContext, type ClaimState, done, type Performed, type Performer, requeue } from "../claim-state.ts";
import { countCloudError } from "../measured-fleet.ts";
import { countLaunchFailures, countRefusedLaunch, reportUnrequested } from "./metrics.ts";
import { refuse } from "./refuse.ts";
import { ensureTemplates, renderFor } from "./render.ts";
import { readLaunchView } from "./view.ts";
import { launchPrice, unknownClass } from "./write-launched.ts";

/**
 * Renders the launch request, creates its launch templates and stores it. The stored request is the one that is sent,
 * however often, because EC2 refuses one client token with two sets of parameters.
 */
export const prepareLaunch: Performer<"PrepareLaunch"> = async ({ record, claim }, { state, deps }) => {
  const uid = claim.metadata.uid ?? "";
  const { rendered, nodeClass } = await renderFor(record, claim, deps);
  if ("error" in rendered) {
    countCloudError("Create", CLOUD_ERRORS[rendered.error.kind], deps);
    return refuse(rendered.error, { ...record, uid }, claim, deps);
  }
  const refused = await ensureTemplates(rendered.ok, claim, deps);
  if (refused !== undefined) {
    // It is written on the NodeClaim, where users look for it, and retried until the NodeClaim times out.
    countRefusedLaunch(refused, rendered.ok.request, deps.metrics);
    return refuse(refusedFor(refused), { ...record, uid }, claim, deps);
  }
  // The pause after an earlier failure is over.
  const { launchFailedAt: _, ...rest } = record;
  const stored = await deps.store.update({
    ...rest,
    uid,
    launch: rendered.ok.request,
    launchAttempts: record.launchAttempts + 1,
    launchRequestedAt: deps.now(),
  });
  return done({ ...state, record: stored, ...(nodeClass && { nodeClass }) });
};

/** Karpenter's names for launches that fail before EC2 is called. */
const CLOUD_ERRORS = {
  InsufficientCapacity: "InsufficientCapacityError",
  NodeClassNotReady: "NodeClassNotReadyError",
  Refused: "",
} as const;

/** Sends the stored request and stores the result. Repeating it is harmless: EC2 answers with the same instance. */
export const launch: Performer<"Launch"> = async ({ record, claim }, { state, deps }) => {
  const { launch: request } = record;
  if (request === undefined) return requeue();
  const attempt: Attempt = { record, request, claim, known: state.nodeClass };
  try {
    const result = await deps.fleet.launch(request);
    const answered = await storeResult(attempt, result, { state, deps });
    return answered ?? (await afterUnclearAnswer(attempt, emptyAnswer(), deps));
  } catch (error) {
    if (!(error instanceof NotFoundError || error instanceof RefusedError)) {
      // Whatever this write fails with, the first failure is thrown.
      if (isUnknown(error)) await deps.store.update({ ...record, launchUnknownAt: deps.now() }).catch(() => undefined);
      throw error;
    }
    // A template that was garbage-collected is rendered again at once.
    if (error instanceof RefusedError) countRefusedLaunch(error, request, deps.metrics);
    return await afterUnclearAnswer(attempt, error, deps);
  }
};

/** A request that is sent for a NodeClaim. */
interface Attempt {
  readonly record: NodeClaimRecord;
  readonly request: FleetRequest;
  readonly claim: NodeClaim;
  /** The NodeClaim's class, if it has been read. */
  readonly known: EC2NodeClass | undefined;
}

/** Stores what EC2 has answered; undefined when the answer has neither an instance nor an error. */
async function storeResult(
  { record, request, claim, known }: Attempt,
  result: FleetResult,
  { state, deps }: { readonly state: ClaimState } & Pick<ActionContext, "deps">,
): Promise<Performed | undefined> {
  const { store, metrics, cluster, now } = deps;
  const rest = withoutLaunch(record);
  const { nodeClass, instanceTypes } = await readLaunchView(claim, deps, { known });
  const context = { claim, nodeClass: nodeClass ?? unknownClass(claim), instanceTypes, caBundle: cluster.caBundle };
  const { failure, unavailable } = readOutcome(request, result, now(), context);
  countLaunchFailures(result, nodeClass, metrics);
  if (unavailable.length > 0) await store.markUnavailable(cluster.name, unavailable);
  if (result.instance) {
    reportUnrequested(request, [result.instance], record.name, deps);
    const securityGroupIds = nodeClass?.status?.securityGroups?.map(({ id }) => id).sort();
    const instance = { ...knownInstance(request, result.instance), ...(securityGroupIds && { securityGroupIds }) };
    const launched = { ...rest, instance, launchedAt: now(), launchPrice: launchPrice(instance, instanceTypes) };
    const stored = await store.update(launched, launchedEntries(launched, now()));
    // The machine has only begun to start, unless an earlier call with this token has launched it.
    const isNew = now() - (record.launchRequestedAt ?? 0) < MIN_BOOT_MS;
    if (mayBeNoticed(record.launchRequestedAt ?? 0, now())) await interruptAsNoticed(stored, deps);
    return done({ ...state, record: stored, ...(nodeClass && { nodeClass }), ...(isNew && { nodes: [], otherYoungNodes: [] }) });
  }
  if (failure === undefined || result.errors.length === 0) return undefined;
  const { kind, reason, message } = failure;
  // No capacity in any offering of the request: they are marked unavailable and the next rendering leaves them out.
  // This ends when no offering is left.
  if (kind === "InsufficientCapacity" && unavailable.length > 0) {
    await store.update(pausedAfterMany(rest, now()), [launchFailed(rest, now(), { reason, message, unavailable })]);
    return requeue();
  }
  return await refuse({ kind: kind === "InsufficientCapacity" ? kind : "Refused", reason, message }, rest, claim, deps);
}

/** A call to EC2 that takes no longer is answered before EC2 can send a notice of the instance, ms. */
const AT_ONCE_MS = 1_000;

/**
 * Whether a notice of an instance that was requested then may have come before its record: an earlier call has launched
 * it, or the answer took its time.
 */
export const mayBeNoticed = (requestedAt: number, now: number): boolean => now - requestedAt >= AT_ONCE_MS;

/** EC2 may answer a repeated call so, whose first call has launched an instance. */
export const emptyAnswer = (): RefusedError => new RefusedError("EC2 answered with neither an instance nor an error");

/** Whether a call that failed so may have launched an instance. */
export const isUnknown = (error: unknown): boolean => !(error instanceof ThrottledError || error instanceof ConflictError);

/**
 * After an answer that leaves it open what became of the request: an earlier call with this token may have launched an
 * instance, and its answer was lost.
 */
async function afterUnclearAnswer(
  { record, claim, known }: Attempt,
  error: NotFoundError | RefusedError,
  deps: LifecycleDeps,
): Promise<Performed> {
  const rest = withoutLaunch(record);
  const instance = await launchedInstance(deps.fleet, deps.cluster.name, claim.metadata.uid ?? "");
  if (instance) {
    const { instanceTypes } = await readLaunchView(claim, deps, { known });
    const launched = { ...rest, instance, launchedAt: deps.now(), launchPrice: launchPrice(instance, instanceTypes) };
    await interruptAsNoticed(await deps.store.update(launched, launchedEntries(launched, deps.now())), deps);
    return requeue();
  }
  // A launch template that was garbage-collected meanwhile: render again under a new token.
  if (error instanceof NotFoundError) {
    await deps.store.update(pausedAfterMany(rest, deps.now()));
    return requeue();
  }
  // A new token before EC2 must list that instance could launch a second one.
  const isKnown = isListed({ requestedAt: record.launchRequestedAt, unknownAt: record.launchUnknownAt }, deps.now());
  return refuse(refusedFor(error), isKnown ? rest : record, claim, deps);
}

/**
 * For a NodeClaim that is terminating after a kill between a launch and the write of its result: finds the instance by
 * the NodeClaim's UID, which the instance carries as a tag.
 */
export const findInstance: Performer<"FindInstance"> = async ({ record }, { state, deps }) => {
  const { cluster, fleet, store, now } = deps;
  const instance = record.uid === undefined ? undefined : await launchedInstance(fleet, cluster.name, record.uid);
  if (instance === undefined) return done(state);
  const rest = withoutLaunch(record);
  const found = { ...rest, instance, launchedAt: rest.launchedAt ?? record.launchRequestedAt ?? now() };
  await interruptAsNoticed(await store.update(found, launchedEntries(found, now())), deps);
  return requeue();
};

/**
 * The instance that was launched for a NodeClaim of this UID, in the form of records; undefined when EC2 lists none.
 */
export async function launchedInstance(fleet: Fleet, cluster: string, uid: string): Promise<NodeClaimRecord["instance"]> {
  const found = launchedFor(uid, await fleet.list(cluster));
  return found && recordedInstance(found);
}
