// The launch of several NodeClaims by one CreateFleet, in steps that the lifecycle decides (launch-together.ts): join,
// render and store the request, send it and store which instance is whose, take the own instance. Each step may be
// repeated after a kill, and made by two members at the same time.

import { launchedEntries, launchFailed } from "#core/history/claim-entries.ts";
import { failureReason } from "#core/launch/failure.ts";
import { nameTag } from "#core/launch/fleet-request.ts";
import { groupAnswer, launchedForGroup } from "#core/launch/group-answer.ts";
import { marksOf } from "#core/launch/marks.ts";
import type { Action } from "#core/lifecycle/action.ts";
import { isAlive } from "#core/lifecycle/garbage-collection.ts";
import { alone, isSettled, joining } from "#core/lifecycle/launch-together.ts";
import { instancesOf } from "#core/model/fleet.ts";
import type { KnownInstance } from "#core/model/instance.ts";
import { NODE_POOL } from "#core/model/labels.ts";
import { type GroupAnswer, type GroupLaunch, instanceFor, type LaunchGroup } from "#core/model/launch-group.ts";
import type { NodeClaim } from "#core/model/node-claim.ts";
import type { NodeClaimRecord } from "#core/model/node-claim-record.ts";
import type { EC2NodeClass } from "#core/model/node-class.ts";
import { CLAIM_UID_TAG, NAME_TAG, NODE_CLAIM_TAG } from "#core/model/tags.ts";
import { UNAVAILABLE_MS } from "#core/offerings/unavailable.ts";
import { NotFoundError, RefusedError, ThrottledError } from "#core/ports/errors.ts";
import { alikeMembers, launchHash, nextGroup } from "#core/provisioning/launch-groups.ts";
import { MIN_BOOT_MS } from "#core/provisioning/pending-pods.ts";
import { recordedInstance } from "#core/rebuild/record.ts";
import type { LifecycleDeps } from "../../shared/cluster-deps.ts";
import { interruptAsNoticed } from "../../shared/early-notices.ts";
import { keep, type Performed } from "../known.ts";
import { claimLogFields } from "../log-fields.ts";
import { emptyAnswer, isUnknown, launchPrice, refuse, refusedFor, restedAfterMany } from "./launch.ts";
import { countLaunchFailures, countRefusedLaunch } from "./metrics.ts";
import { ensureTemplates, renderFor } from "./render.ts";
import { readLaunchView } from "./view.ts";

/** A group is needed until its last member has timed out; the table keeps it for much longer. */
const GROUP_LIFE_MS = 60 * 60_000;

type Of<T extends Action["type"]> = Extract<Action, { readonly type: T }>;

/** The record is written first, so that older code leaves the NodeClaim alone from then on. */
export async function joinLaunch(record: NodeClaimRecord, claim: NodeClaim, deps: LifecycleDeps): Promise<Performed> {
  const { launchGroup: plan } = record;
  if (plan === undefined) return "look again";
  const joined = joining(record, plan, claim.metadata.uid ?? "", deps.now());
  const stored = plan.joinedAt === undefined ? await deps.store.update(joined) : record;
  const member = { name: record.name, alike: launchHash(claim) };
  const group = await deps.store.joinLaunch(deps.cluster.name, plan.id, member, deps.now() + GROUP_LIFE_MS);
  return keep({ record: stored, launchGroup: group });
}

/**
 * Renders the request for all members that are like this one, creates its launch templates and stores it. Members are
 * launched alone where there is no such request: each then says of its own launch what is wrong.
 */
export async function closeLaunch({ record, claim, group }: Of<"CloseLaunch">, deps: LifecycleDeps): Promise<Performed> {
  const { launchGroup: plan } = record;
  const members = alikeMembers(group, launchHash(claim));
  if (plan === undefined || members.length < 2 || !members.includes(record.name)) return dissolve(group, record, deps);
  const { rendered, nodeClass } = await renderFor(record, claim, deps, { ...plan, count: members.length });
  // What a reservation has left is counted by the launches of single NodeClaims.
  if ("error" in rendered || rendered.ok.request.capacityType === "reserved") return dissolve(group, record, deps);
  if ((await ensureTemplates(rendered.ok, claim, deps)) !== undefined) return dissolve(group, record, deps);
  const launch: GroupLaunch = { request: rendered.ok.request, members, requestedAt: deps.now(), sender: record.name };
  const closed = await deps.store.updateLaunchGroup({ ...group, launch });
  await wakeMembers(
    group.members.map(({ name }) => name).filter((name) => !members.includes(name)),
    deps,
  );
  return keep({ launchGroup: closed, ...(nodeClass && { nodeClass }) });
}

async function dissolve(group: LaunchGroup, { name }: NodeClaimRecord, deps: LifecycleDeps): Promise<Performed> {
  const launchGroup = await deps.store.updateLaunchGroup({ ...group, isDissolved: true });
  await wakeMembers(
    group.members.map((member) => member.name).filter((other) => other !== name),
    deps,
  );
  return keep({ launchGroup });
}

/** Members look by themselves after a while; the wake-up saves them the wait. */
async function wakeMembers(names: readonly string[], { cluster, wakeUps }: LifecycleDeps): Promise<void> {
  if (names.length > 0) await wakeUps.wake(names.map((claim) => ({ kind: "claim", cluster: cluster.name, claim })));
}

/**
 * Sends the stored request and stores which instance is whose. Repeating it is harmless: EC2 answers with the same
 * instances, and the first answer that is stored counts.
 * @param known the members' class, if it has been read
 */
export async function launchGroup(
  { record, claim, group }: Of<"LaunchGroup">,
  deps: LifecycleDeps,
  known: EC2NodeClass | undefined,
): Promise<Performed> {
  const { launch } = group;
  if (launch === undefined) return "look again";
  try {
    const result = await deps.fleet.launch(launch.request);
    const nodeClass = known ?? (await deps.kubernetes.get("EC2NodeClass", claim.spec.nodeClassRef.name));
    countLaunchFailures(result, nodeClass, deps.metrics);
    const unavailable = marksOf(launch.request, result, deps.now() + UNAVAILABLE_MS, nodeClass?.status?.placementGroup?.id);
    if (unavailable.length > 0) await deps.store.markUnavailable(deps.cluster.name, unavailable);
    const instances = instancesOf(result);
    if (instances.length + result.errors.length === 0) return await afterLostAnswer({ record, claim, group, launch }, emptyAnswer(), deps);
    return await settle(group, groupAnswer(launch, instances, result.errors, unavailable), record.name, deps);
  } catch (error) {
    if (error instanceof ThrottledError && error.retryAfterMs !== undefined)
      await putOffGroup({ ...group, launch }, error.retryAfterMs, deps);
    if (!(error instanceof NotFoundError || error instanceof RefusedError)) {
      if (isUnknown(error))
        await deps.store.updateLaunchGroup({ ...group, launch: { ...launch, unknownAt: deps.now() } }).catch(() => undefined);
      throw error;
    }
    if (error instanceof RefusedError) countRefusedLaunch(error, launch.request, deps.metrics);
    return await afterLostAnswer({ record, claim, group, launch }, error, deps);
  }
}

/**
 * The request counts as made at its next turn, as that of a single launch does: what EC2 has launched is awaited from
 * then on, and the other members send it only after that. Throws ConflictError when another member has answered.
 */
async function putOffGroup(
  group: LaunchGroup & { readonly launch: GroupLaunch },
  retryAfterMs: number,
  { store, now }: LifecycleDeps,
): Promise<void> {
  await store.updateLaunchGroup({ ...group, launch: { ...group.launch, requestedAt: now() + retryAfterMs } });
}

/** Stores which instance is whose, and wakes the other members. Throws ConflictError when another has stored it. */
async function settle(group: LaunchGroup, answer: GroupAnswer, by: string, deps: LifecycleDeps): Promise<Performed> {
  const launchGroup = await deps.store.updateLaunchGroup({ ...group, answer });
  await wakeMembers(
    (group.launch?.members ?? []).filter((name) => name !== by),
    deps,
  );
  return keep({ launchGroup });
}

/** After an answer that does not tell what became of the request: an earlier call may have launched instances. */
async function afterLostAnswer(
  { record, claim, group, launch }: Pick<Of<"LaunchGroup">, "record" | "claim" | "group"> & { readonly launch: GroupLaunch },
  error: NotFoundError | RefusedError,
  deps: LifecycleDeps,
): Promise<Performed> {
  const found = await launched(group, deps);
  // A launch template that was garbage-collected: nothing was launched, and the next attempt creates it again.
  const isGone = error instanceof NotFoundError && found.length === 0;
  if (!isGone && !isSettled(launch, found.length, deps.now())) return refuse(refusedFor(error), record, claim, deps);
  const answer = groupAnswer(launch, found, [], []);
  const isShort = found.length < launch.members.length && !isGone;
  const failure = { kind: "Refused" as const, reason: failureReason(error.message), message: error.message };
  return settle(group, { ...answer, ...(isShort && { failure }) }, record.name, deps);
}

async function launched(group: LaunchGroup, { fleet, cluster }: LifecycleDeps): Promise<readonly KnownInstance[]> {
  return launchedForGroup(group.id, await fleet.list(cluster.name))
    .filter(isAlive)
    .map(recordedInstance);
}

/** Stores the instance of the NodeClaim, or that its group has none for it: then the next attempt follows. */
export async function takeFromGroup(
  { record, claim, group }: Of<"TakeFromGroup">,
  deps: LifecycleDeps,
  known: EC2NodeClass | undefined,
): Promise<Performed> {
  const { launchGroup: plan } = record;
  const { answer, launch } = group;
  if (plan === undefined || answer === undefined || launch === undefined) return "look again";
  const { launchFailedAt: _, ...rest } = { ...alone(record), launchAttempts: record.launchAttempts + 1 };
  const instance = instanceFor(group, record.name);
  if (instance) {
    const { nodeClass, instanceTypes } = await readLaunchView(claim, deps, { known });
    const securityGroupIds = nodeClass?.status?.securityGroups?.map(({ id }) => id).sort();
    const own = { ...instance, ...(securityGroupIds && { securityGroupIds }) };
    // The machine has only begun to start, unless an earlier call with this token has launched it.
    const isNew = deps.now() - launch.requestedAt < MIN_BOOT_MS;
    const launchedAt = isNew ? deps.now() : launch.requestedAt;
    const taken = { ...withInstance(rest, own, launch, launchedAt), launchPrice: launchPrice(own, instanceTypes) };
    const stored = await deps.store.update(taken, launchedEntries(taken, deps.now()));
    // A notice that came before this was about an instance without a record.
    if (!isNew) await interruptAsNoticed(stored, deps);
    return keep({ record: stored, ...(nodeClass && { nodeClass }), ...(isNew && { nodes: [], otherYoungNodes: [] }) });
  }
  const next = nextGroup(plan, group);
  const left = { ...rest, ...(next && { launchGroup: next }) };
  const { failure, unavailable } = answer;
  if (failure === undefined) {
    await deps.store.update(restedAfterMany(left, deps.now()));
    return "look again";
  }
  if (failure.kind === "InsufficientCapacity" && unavailable.length > 0) {
    await deps.store.update(restedAfterMany(left, deps.now()), [launchFailed(left, deps.now(), { ...failure, unavailable })]);
    return "look again";
  }
  return refuse(failure, left, claim, deps);
}

/** The record with its instance, and the tags that the instance lacks yet. */
function withInstance(record: NodeClaimRecord, instance: KnownInstance, { request }: GroupLaunch, now: number): NodeClaimRecord {
  const { name, uid = "", manifest, nodePool = "" } = record;
  // A name of the user's own, from the EC2NodeClass, stays.
  const isOurs = request.tags[NAME_TAG] === (manifest.metadata.labels?.[NODE_POOL] ?? nodePool);
  const dueTags = { ...(isOurs && { [NAME_TAG]: nameTag(manifest) }), [NODE_CLAIM_TAG]: name, [CLAIM_UID_TAG]: uid };
  return { ...record, instance, launchedAt: now, dueTags };
}

export async function leaveLaunch({ record, group }: Of<"LeaveLaunch">, deps: LifecycleDeps): Promise<Performed> {
  const members = group.members.filter(({ name }) => name !== record.name);
  return keep({ launchGroup: await deps.store.updateLaunchGroup({ ...group, members }) });
}

export async function takeForEnd({ record, group }: Of<"TakeForEnd">, deps: LifecycleDeps): Promise<Performed> {
  const instance = instanceFor(group, record.name);
  if (instance === undefined || group.launch === undefined) return "look again";
  const taken = withInstance(alone(record), instance, group.launch, group.launch.requestedAt);
  await deps.store.update(taken, launchedEntries(taken, deps.now()));
  return "look again";
}

/** Instances that EC2 lists prove that the request was sent; none are no proof that it will not be. */
export async function findGroup({ record, group }: Of<"FindGroup">, deps: LifecycleDeps): Promise<Performed> {
  const { launch } = group;
  if (launch === undefined) return "look again";
  const found = await launched(group, deps);
  if (found.length === 0 || !isSettled(launch, found.length, deps.now())) return "done";
  await settle(group, groupAnswer(launch, found, [], []), record.name, deps);
  return "look again";
}

/** What is not tagged now is tagged after a later look. */
export async function tagInstance(record: NodeClaimRecord, deps: LifecycleDeps): Promise<Performed> {
  const { dueTags, instance, ...rest } = record;
  if (dueTags === undefined || instance === undefined) return "done";
  try {
    await deps.fleet.tag(instance.id, { ...dueTags, ...(record.uid !== undefined && { [CLAIM_UID_TAG]: record.uid }) });
  } catch (error) {
    if (error instanceof ThrottledError || error instanceof NotFoundError) return "done";
    if (!(error instanceof RefusedError)) throw error;
    deps.log.error("instance cannot be tagged", { ...claimLogFields(record.name), error: error.message });
    return "done";
  }
  return keep({ record: await deps.store.update({ ...rest, instance }) });
}
