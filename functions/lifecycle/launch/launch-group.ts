// The calls of a launch of several NodeClaims by one CreateFleet. core/launch-group decides each step; each may be
// repeated after a kill, and made by two members at the same time.

import { launchedEntries } from "#core/history/claim-entries.ts";
import { refusedFor } from "#core/launch/attempt.ts";
import { marksOf } from "#core/launch/marks.ts";
import { answerFromListing, groupAnswer, isSettled, launchedForGroup } from "#core/launch-group/answer.ts";
import { withInstance } from "#core/launch-group/member.ts";
import type { GroupStep, SentGroup } from "#core/launch-group/step.ts";
import type { Action } from "#core/lifecycle/action.ts";
import { isAlive } from "#core/lifecycle/garbage-collection.ts";
import { claimLogFields } from "#core/lifecycle/log-fields.ts";
import { instancesOf } from "#core/model/fleet.ts";
import type { KnownInstance } from "#core/model/instance.ts";
import type { GroupAnswer, GroupLaunch, LaunchGroup } from "#core/model/launch-group.ts";
import type { NodeClaim } from "#core/model/node-claim.ts";
import type { NodeClaimRecord } from "#core/model/node-claim-record.ts";
import { CLAIM_UID_TAG } from "#core/model/tags.ts";
import { UNAVAILABLE_MS } from "#core/offerings/unavailable.ts";
import { NotFoundError, RefusedError, ThrottledError } from "#core/ports/errors.ts";
import { MIN_BOOT_MS } from "#core/provisioning/pending-pods.ts";
import { recordedInstance } from "#core/rebuild/record.ts";
import type { LifecycleDeps } from "../../shared/cluster-deps.ts";
import { interruptAsNoticed } from "../../shared/early-notices.ts";
import { type ActionContext, type ClaimState, done, type Performed, requeue } from "../claim-state.ts";
import { emptyAnswer, isUnknown, mayBeNoticed } from "./launch.ts";
import { countLaunchFailures, countRefusedLaunch, reportUnrequested } from "./metrics.ts";
import { refuse } from "./refuse.ts";
import { ensureTemplates, renderFor } from "./render.ts";
import { readLaunchView } from "./view.ts";
import { launchPrice } from "./write-launched.ts";

type Of<T extends GroupStep["type"]> = Extract<GroupStep, { readonly type: T }>;

/** A member whose NodeClaim exists, and what its reconcile has read. */
interface Member {
  readonly record: NodeClaimRecord;
  readonly claim: NodeClaim;
  readonly state: ClaimState;
  readonly deps: LifecycleDeps;
}

/** Takes a step of a launch group. */
export async function performGroupStep(
  { step, record, claim }: Extract<Action, { readonly type: "LaunchGroup" }>,
  { state, deps }: ActionContext,
): Promise<Performed> {
  const { store, cluster, now } = deps;
  switch (step.type) {
    case "Join": {
      const stored = step.record ? await store.update(step.record) : record;
      return done({ ...state, record: stored, launchGroup: await store.joinLaunch(cluster.name, step.id, step.member, step.expiresAt) });
    }
    case "Dissolve":
      return dissolve(step.group, record, state, deps);
    case "Leave": {
      const members = step.group.members.filter(({ name }) => name !== record.name);
      return done({ ...state, launchGroup: await store.updateLaunchGroup({ ...step.group, members }) });
    }
    case "Retry":
      await store.update(step.record, step.history);
      return requeue();
    case "TakeToEnd":
      await interruptAsNoticed(await store.update(step.record, launchedEntries(step.record, now())), deps);
      return requeue();
    case "Search":
      return search(step, record, state, deps);
    case "Tag":
      return tag(state.record ?? step.record, state, deps);
  }
  return claim === undefined ? requeue() : performLaunchStep(step, { record, claim, state, deps });
}

/** Takes a step that needs the NodeClaim. */
function performLaunchStep(step: Of<"Close" | "Send" | "Take" | "Refuse">, member: Member): Promise<Performed> {
  switch (step.type) {
    case "Close":
      return close(step, member);
    case "Send":
      return send(step, member);
    case "Take":
      return take(step, member);
    case "Refuse":
      return refuse(step.failure, step.record, member.claim, member.deps);
  }
}

/**
 * Renders the request for the members, creates its launch templates and stores it. Where there is no such request,
 * members are launched alone: each then reports what is wrong with its own launch.
 */
async function close({ group, plan, members }: Of<"Close">, { record, claim, state, deps }: Member): Promise<Performed> {
  const { rendered, nodeClass } = await renderFor(record, claim, deps, { ...plan, count: members.length });
  // What a reservation has left is counted by the launches of single NodeClaims.
  if ("error" in rendered || rendered.ok.request.capacityType === "reserved") return dissolve(group, record, state, deps);
  if ((await ensureTemplates(rendered.ok, claim, deps)) !== undefined) return dissolve(group, record, state, deps);
  const launch: GroupLaunch = { request: rendered.ok.request, members, requestedAt: deps.now(), sender: record.name };
  const launchGroup = await deps.store.updateLaunchGroup({ ...group, launch });
  await wakeMembers(
    group.members.map(({ name }) => name).filter((name) => !members.includes(name)),
    deps,
  );
  return done({ ...state, launchGroup, ...(nodeClass && { nodeClass }) });
}

async function dissolve(group: LaunchGroup, { name }: NodeClaimRecord, state: ClaimState, deps: LifecycleDeps): Promise<Performed> {
  const launchGroup = await deps.store.updateLaunchGroup({ ...group, isDissolved: true });
  await wakeMembers(
    group.members.map((member) => member.name).filter((other) => other !== name),
    deps,
  );
  return done({ ...state, launchGroup });
}

/** Members check by themselves after a while; the wake-up saves them the wait. */
async function wakeMembers(names: readonly string[], { cluster, wakeUps }: LifecycleDeps): Promise<void> {
  if (names.length > 0) await wakeUps.wake(names.map((claim) => ({ kind: "claim", cluster: cluster.name, claim })));
}

/**
 * Sends the stored request and stores which instance is whose. Repeating it is harmless: EC2 answers with the same
 * instances, and the first answer that is stored counts.
 */
async function send({ group }: Of<"Send">, member: Member): Promise<Performed> {
  const { record, claim, state, deps } = member;
  const { launch } = group;
  try {
    const result = await deps.fleet.launch(launch.request);
    const nodeClass = state.nodeClass ?? (await deps.kubernetes.get("EC2NodeClass", claim.spec.nodeClassRef.name));
    countLaunchFailures(result, nodeClass, deps.metrics);
    const unavailable = marksOf(launch.request, result, deps.now() + UNAVAILABLE_MS, nodeClass?.status?.placementGroup?.id);
    if (unavailable.length > 0) await deps.store.markUnavailable(deps.cluster.name, unavailable);
    const instances = instancesOf(result);
    reportUnrequested(launch.request, instances, record.name, deps);
    if (instances.length + result.errors.length === 0) return await afterUnclearAnswer(group, emptyAnswer(), member);
    return done({
      ...state,
      launchGroup: await settle(group, groupAnswer(launch, instances, result.errors, unavailable), record.name, deps),
    });
  } catch (error) {
    // The request counts as made at its next turn, as that of a single launch does: what EC2 has launched is awaited
    // from then on, and the other members send it only after that.
    if (error instanceof ThrottledError && error.retryAfterMs !== undefined)
      await deps.store.updateLaunchGroup({ ...group, launch: { ...launch, requestedAt: deps.now() + error.retryAfterMs } });
    if (!(error instanceof NotFoundError || error instanceof RefusedError)) {
      if (isUnknown(error))
        await deps.store.updateLaunchGroup({ ...group, launch: { ...launch, unknownAt: deps.now() } }).catch(() => undefined);
      throw error;
    }
    if (error instanceof RefusedError) countRefusedLaunch(error, launch.request, deps.metrics);
    return await afterUnclearAnswer(group, error, member);
  }
}

/** Stores which instance is whose, and wakes the other members. Throws ConflictError when another has stored it. */
async function settle(group: SentGroup, answer: GroupAnswer, by: string, deps: LifecycleDeps): Promise<LaunchGroup> {
  const answered = await deps.store.updateLaunchGroup({ ...group, answer });
  await wakeMembers(
    group.launch.members.filter((name) => name !== by),
    deps,
  );
  return answered;
}

/** After an answer that leaves it open what became of the request: an earlier call may have launched instances. */
async function afterUnclearAnswer(
  group: SentGroup,
  error: NotFoundError | RefusedError,
  { record, claim, state, deps }: Member,
): Promise<Performed> {
  const isTemplateGone = error instanceof NotFoundError;
  const answer = answerFromListing(group.launch, await listed(group, deps), { message: error.message, isTemplateGone }, deps.now());
  if (answer === undefined) return refuse(refusedFor(error), record, claim, deps);
  return done({ ...state, launchGroup: await settle(group, answer, record.name, deps) });
}

async function listed(group: LaunchGroup, { fleet, cluster }: LifecycleDeps): Promise<readonly KnownInstance[]> {
  return launchedForGroup(group.id, await fleet.list(cluster.name))
    .filter(isAlive)
    .map(recordedInstance);
}

/** Stores the instance of the NodeClaim. */
async function take({ group: { launch }, record, instance }: Of<"Take">, { claim, state, deps }: Member): Promise<Performed> {
  const { nodeClass, instanceTypes } = await readLaunchView(claim, deps, { known: state.nodeClass });
  const securityGroupIds = nodeClass?.status?.securityGroups?.map(({ id }) => id).sort();
  const own = { ...instance, ...(securityGroupIds && { securityGroupIds }) };
  // The machine has only begun to start, unless an earlier call with this token has launched it.
  const isNew = deps.now() - launch.requestedAt < MIN_BOOT_MS;
  const launchedAt = isNew ? deps.now() : launch.requestedAt;
  const taken = { ...withInstance(record, own, launch, launchedAt), launchPrice: launchPrice(own, instanceTypes) };
  const stored = await deps.store.update(taken, launchedEntries(taken, deps.now()));
  // A notice that came before this named an instance without a record.
  if (mayBeNoticed(launch.requestedAt, deps.now())) await interruptAsNoticed(stored, deps);
  return done({ ...state, record: stored, ...(nodeClass && { nodeClass }), ...(isNew && { nodes: [], otherYoungNodes: [] }) });
}

/** Instances that EC2 lists prove that the request was sent; none are no proof that it will not be. */
async function search({ group }: Of<"Search">, { name }: NodeClaimRecord, state: ClaimState, deps: LifecycleDeps): Promise<Performed> {
  const found = await listed(group, deps);
  if (found.length === 0 || !isSettled(group.launch, found.length, deps.now())) return done(state);
  await settle(group, groupAnswer(group.launch, found, [], []), name, deps);
  return requeue();
}

/** What is not tagged now is tagged after a later sweep. */
async function tag(record: NodeClaimRecord, state: ClaimState, deps: LifecycleDeps): Promise<Performed> {
  const { dueTags, instance, ...rest } = record;
  if (dueTags === undefined || instance === undefined) return done(state);
  try {
    await deps.fleet.tag(instance.id, { ...dueTags, ...(record.uid !== undefined && { [CLAIM_UID_TAG]: record.uid }) });
  } catch (error) {
    if (error instanceof ThrottledError || error instanceof NotFoundError) return done(state);
    if (!(error instanceof RefusedError)) throw error;
    deps.log.error("instance cannot be tagged", { ...claimLogFields(record.name), error: error.message });
    return done(state);
  }
  return done({ ...state, record: await deps.store.update({ ...rest, instance }) });
}
