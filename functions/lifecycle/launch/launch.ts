// The launch of one NodeClaim, in steps that the lifecycle decides: render and store the request, send it, store the
// result, write it onto the NodeClaim. Each step may be repeated after a kill. core/launch renders requests and reads
// results; nothing here chooses instance types.

import { logEvent } from "#core/announcements/log-events.ts";
import { launchedEntries, launchFailed } from "#core/history/claim-entries.ts";
import { failureReason } from "#core/launch/failure.ts";
import type { RenderedLaunch } from "#core/launch/fleet-request.ts";
import { knownInstance, launchedAs, readOutcome } from "#core/launch/outcome.ts";
import { NODE_NOT_FOUND, withConditions } from "#core/lifecycle/claim-status.ts";
import { isListed } from "#core/lifecycle/launch-together.ts";
import { machineFields } from "#core/lifecycle/machine-fields.ts";
import type { KnownInstance } from "#core/model/instance.ts";
import type { InstanceType } from "#core/model/instance-type.ts";
import type { NodeClaim } from "#core/model/node-claim.ts";
import type { NodeClaimRecord } from "#core/model/node-claim-record.ts";
import type { EC2NodeClass } from "#core/model/node-class.ts";
import { ConflictError, NotFoundError, RefusedError, ThrottledError } from "#core/ports/errors.ts";
import type { Fleet } from "#core/ports/fleet.ts";
import { MIN_BOOT_MS } from "#core/provisioning/pending-pods.ts";
import { launchedFor } from "#core/rebuild/launched.ts";
import { recordedInstance } from "#core/rebuild/record.ts";
import type { LifecycleDeps } from "../../shared/cluster-deps.ts";
import { publishOnce } from "../../shared/publish-once.ts";
import { writeTermination } from "../../shared/terminate-claim.ts";
import { writeStatus } from "../../shared/write-status.ts";
import { keep, type Performed } from "../known.ts";
import { claimLogFields } from "../log-fields.ts";
import { countCloudError } from "../measured-fleet.ts";
import { countLaunchFailures, countRefusedLaunch } from "./metrics.ts";
import { ensureTemplates, renderFor } from "./render.ts";
import { readLaunchView } from "./view.ts";

/**
 * Renders the launch request, creates its launch templates and stores it. The stored request is the one that is sent,
 * however often, because EC2 refuses one client token with two sets of parameters.
 */
export async function prepareLaunch(record: NodeClaimRecord, claim: NodeClaim, deps: LifecycleDeps): Promise<Performed> {
  const uid = claim.metadata.uid ?? "";
  const { rendered, nodeClass } = await renderFor(record, claim, deps);
  if ("error" in rendered) {
    countCloudError("Create", CLOUD_ERRORS[rendered.error.kind], deps);
    return refuse(rendered.error, { ...record, uid }, claim, deps);
  }
  const refused = await ensureTemplates(rendered.ok, claim, deps);
  if (refused !== undefined) {
    // It is written on the NodeClaim, where users look, and tried again until the NodeClaim times out.
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
  return keep({ record: stored, ...(nodeClass && { nodeClass }) });
}

/** Karpenter's names for launches that fail before EC2 is asked. */
const CLOUD_ERRORS = {
  InsufficientCapacity: "InsufficientCapacityError",
  NodeClassNotReady: "NodeClassNotReadyError",
  Refused: "",
} as const;

/**
 * Sends the stored request and stores the result. Repeating it is harmless: EC2 answers with the same instance.
 * @param known the NodeClaim's class, if it has been read
 */
export async function launch(
  record: NodeClaimRecord,
  claim: NodeClaim,
  deps: LifecycleDeps,
  known: EC2NodeClass | undefined,
): Promise<Performed> {
  const request = record.launch;
  if (request === undefined) return "look again";
  const rest = withoutLaunch(record);
  try {
    const result = await deps.fleet.launch(request);
    const { nodeClass, instanceTypes } = await readLaunchView(claim, deps, { known });
    const context = { claim, nodeClass: nodeClass ?? unknownClass(claim), instanceTypes, caBundle: deps.cluster.caBundle };
    const { failure, unavailable } = readOutcome(request, result, deps.now(), context);
    countLaunchFailures(result, nodeClass, deps.metrics);
    if (unavailable.length > 0) await deps.store.markUnavailable(deps.cluster.name, unavailable);
    if (result.instance) {
      const securityGroupIds = nodeClass?.status?.securityGroups?.map(({ id }) => id).sort();
      const instance = { ...knownInstance(request, result.instance), ...(securityGroupIds && { securityGroupIds }) };
      const launched = { ...rest, instance, launchedAt: deps.now(), launchPrice: launchPrice(instance, instanceTypes) };
      const stored = await deps.store.update(launched, launchedEntries(launched, deps.now()));
      // The machine has only begun to start, unless an earlier call with this token has launched it.
      const isNew = deps.now() - (record.launchRequestedAt ?? 0) < MIN_BOOT_MS;
      return keep({ record: stored, ...(nodeClass && { nodeClass }), ...(isNew && { nodes: [], otherYoungNodes: [] }) });
    }
    if (result.errors.length === 0) return await afterLostAnswer(record, emptyAnswer(), claim, deps, known);
    const why = { reason: failure?.reason ?? "LaunchFailed", message: failure?.message ?? "", unavailable };
    // No capacity in any offering of the request: they are marked unavailable and the next rendering leaves them out.
    // This ends when no offering is left.
    if (failure?.kind === "InsufficientCapacity" && unavailable.length > 0) {
      await deps.store.update(restedAfterMany(rest, deps.now()), [launchFailed(rest, deps.now(), why)]);
      return "look again";
    }
    const kind = failure?.kind === "InsufficientCapacity" ? "InsufficientCapacity" : "Refused";
    return await refuse({ kind, reason: why.reason, message: why.message }, rest, claim, deps);
  } catch (error) {
    if (!(error instanceof NotFoundError || error instanceof RefusedError)) {
      // Whatever this write fails with: the first failure is the one to tell.
      if (isUnknown(error)) await deps.store.update({ ...record, launchUnknownAt: deps.now() }).catch(() => undefined);
      throw error;
    }
    // A template that was garbage-collected is rendered again at once.
    if (error instanceof RefusedError) countRefusedLaunch(error, request, deps.metrics);
    return await afterLostAnswer(record, error, claim, deps, known);
  }
}

/** EC2 may answer a repeated call so, whose first call has launched an instance. */
export const emptyAnswer = (): RefusedError => new RefusedError("EC2 answered with neither an instance nor an error");

/** Whether a call that failed so may have launched an instance. */
export const isUnknown = (error: unknown): boolean => !(error instanceof ThrottledError || error instanceof ConflictError);

/** The record without a launch in progress. */
function withoutLaunch(record: NodeClaimRecord): NodeClaimRecord {
  const { launch: _sent, launchRequestedAt: _at, launchUnknownAt: _unknown, ...rest } = record;
  return rest;
}

/**
 * After an answer that does not tell what became of the request: an earlier call with this token may have launched an
 * instance, and its answer was lost.
 */
async function afterLostAnswer(
  record: NodeClaimRecord,
  error: NotFoundError | RefusedError,
  claim: NodeClaim,
  deps: LifecycleDeps,
  known: EC2NodeClass | undefined,
): Promise<Performed> {
  const rest = withoutLaunch(record);
  const instance = await launchedInstance(deps.fleet, deps.cluster.name, claim.metadata.uid ?? "");
  if (instance) {
    const { instanceTypes } = await readLaunchView(claim, deps, { known });
    const launched = { ...rest, instance, launchedAt: deps.now(), launchPrice: launchPrice(instance, instanceTypes) };
    await deps.store.update(launched, launchedEntries(launched, deps.now()));
    return "look again";
  }
  // A launch template that was garbage-collected meanwhile: render again under a new token.
  if (error instanceof NotFoundError) {
    await deps.store.update(restedAfterMany(rest, deps.now()));
    return "look again";
  }
  const { launchRequestedAt: requestedAt = 0, launchUnknownAt: unknownAt = 0 } = record;
  // A new token before EC2 must list that instance could launch a second one.
  const isKnown = isListed({ requestedAt, unknownAt }, deps.now());
  return refuse(refusedFor(error), isKnown ? rest : record, claim, deps);
}

/** Enough attempts to request every instance type of a wide NodePool, sixty at a time. */
const MAX_ATTEMPTS_WITHOUT_PAUSE = 10;

/** The next rendering follows at once, but a launch that keeps failing gets the pause of any other failure. */
export function restedAfterMany(record: NodeClaimRecord, now: number): NodeClaimRecord {
  return record.launchAttempts < MAX_ATTEMPTS_WITHOUT_PAUSE ? record : { ...record, launchFailedAt: now };
}

export type Refusal = Extract<RenderedLaunch, { readonly error: unknown }>["error"];

export function refusedFor({ message }: Error): Refusal {
  return { kind: "Refused", reason: failureReason(message), message };
}

const MAX_MESSAGE_LENGTH = 300;

/**
 * Terminates a NodeClaim for which there is no capacity, so that its pods are planned again; any other refusal is tried
 * again later.
 */
export async function refuse(
  { kind, reason, message }: Refusal,
  record: NodeClaimRecord,
  claim: NodeClaim,
  deps: LifecycleDeps,
): Promise<Performed> {
  logEvent(deps.log, "failed launching nodeclaim", { ...claimLogFields(record.name), ...machineFields(record), error: message, reason });
  if (kind === "Refused") {
    await deps.store.update({ ...record, launchFailedAt: deps.now() }, [launchFailed(record, deps.now(), { reason, message })]);
    const text = message.length > MAX_MESSAGE_LENGTH ? `${message.slice(0, MAX_MESSAGE_LENGTH)}...` : message;
    const conditions = withConditions({ now: deps.now() }, claim, [{ type: "Launched", status: "Unknown", reason, message: text }]);
    await writeStatus("NodeClaim", { ...claim, status: { ...claim.status, conditions } }, claim.status?.conditions, deps);
    return "look again";
  }
  const terminal = kind === "InsufficientCapacity" ? "insufficient_capacity" : "nodeclass_not_ready";
  // This very version, without the launch: terminateClaim would read the record again, and termination would look for
  // an instance that never existed.
  await writeTermination(record, terminal, deps, { detail: message });
  await deps.wakeUps.wake([
    { kind: "provision", cluster: deps.cluster.name, cause: "NodeClaimTerminating", detail: `${terminal} ${record.name}` },
  ]);
  if (kind === "InsufficientCapacity") {
    const about = { kind: "NodeClaim", metadata: claim.metadata } as const;
    const text = `NodeClaim ${record.name} event: ${message.slice(0, MAX_MESSAGE_LENGTH)}`;
    await publishOnce({ type: "Warning", reason: "InsufficientCapacityError", message: text, about }, deps);
  }
  return "look again";
}

/**
 * Writes onto the NodeClaim what was launched for it: labels, annotations, provider ID, image, capacity, and the
 * condition Launched.
 */
export async function writeLaunched(
  record: NodeClaimRecord,
  claim: NodeClaim,
  deps: LifecycleDeps,
  known: EC2NodeClass | undefined,
): Promise<Performed> {
  if (record.instance === undefined) return "look again";
  const { nodeClass, instanceTypes } = await readLaunchView(claim, deps, { known });
  const context = { claim, nodeClass: nodeClass ?? unknownClass(claim), instanceTypes, caBundle: deps.cluster.caBundle };
  const { labels, annotations, ...status } = launchedAs(await withPartition(record.instance, nodeClass, deps), context);
  const metadata = { ...claim.metadata, labels, annotations: { ...claim.metadata.annotations, ...annotations } };
  const written = await deps.kubernetes.update("NodeClaim", { ...claim, metadata });
  // What the next step would say is said at once: the machine has only begun to start.
  const isNew = deps.now() - (record.launchedAt ?? 0) < MIN_BOOT_MS;
  const conditions = withConditions({ now: deps.now() }, written, [
    { type: "Launched", status: "True" },
    ...(isNew ? [NODE_NOT_FOUND] : []),
  ]);
  const after = { ...written, status: { ...claim.status, ...status, conditions } };
  const shown = await writeStatus("NodeClaim", after, claim.status?.conditions, deps);
  logEvent(deps.log, "launched nodeclaim", {
    ...claimLogFields(record.name),
    ...machineFields(record),
    "price-per-hour": priceOf(record.instance, instanceTypes),
    allocatable: status.allocatable,
    reason: record.reason,
    "command-id": record.commandId,
  });
  return keep({ claim: shown });
}

/**
 * EC2 chooses the partition of a placement group and reports it only in DescribeInstances. An instance that is not
 * listed yet stays without one.
 */
async function withPartition(
  instance: KnownInstance,
  nodeClass: EC2NodeClass | undefined,
  { fleet }: LifecycleDeps,
): Promise<KnownInstance> {
  if (nodeClass?.status?.placementGroup?.partitionCount === undefined || instance.partition !== undefined) return instance;
  const [found] = await fleet.describe([instance.id]);
  return found?.partition === undefined ? instance : { ...instance, partition: found.partition };
}

/** USD per hour of the launched offering; undefined when it is not known. */
function priceOf(instance: KnownInstance, types: readonly InstanceType[]) {
  return launchPrice(instance, types).pricePerHour;
}

/** What the machine costs as of now, as far as that is known. */
export function launchPrice(
  { instanceType, zone, capacityType, reservationId }: KnownInstance,
  types: readonly InstanceType[],
): NonNullable<NodeClaimRecord["launchPrice"]> {
  const offerings = types.find(({ name }) => name === instanceType)?.offerings ?? [];
  const inZone = offerings.filter((offering) => offering.zone === zone);
  const own = inZone.find((offering) => offering.capacityType === capacityType && offering.reservationId === reservationId)?.price;
  const onDemand = inZone.find((offering) => offering.capacityType === "on-demand")?.price;
  return { ...(own && { pricePerHour: own }), ...(onDemand && { onDemandPerHour: onDemand }) };
}

/**
 * For a NodeClaim that is terminating after a kill between a launch and the write of its result: finds the instance by
 * the NodeClaim's UID, which the instance carries as a tag.
 */
export async function findInstance(record: NodeClaimRecord, { cluster, fleet, store, now }: LifecycleDeps): Promise<Performed> {
  const instance = record.uid === undefined ? undefined : await launchedInstance(fleet, cluster.name, record.uid);
  if (instance === undefined) return "done";
  const rest = withoutLaunch(record);
  const found = { ...rest, instance, launchedAt: rest.launchedAt ?? record.launchRequestedAt ?? now() };
  await store.update(found, launchedEntries(found, now()));
  return "look again";
}

/**
 * The instance that was launched for a NodeClaim of this UID, in the form of records; undefined when EC2 lists none.
 */
export async function launchedInstance(fleet: Fleet, cluster: string, uid: string): Promise<NodeClaimRecord["instance"]> {
  const found = launchedFor(uid, await fleet.list(cluster));
  return found && recordedInstance(found);
}

/**
 * Stands in for an EC2NodeClass that was deleted between launch and write: the instance exists and is described without
 * it.
 */
function unknownClass(claim: NodeClaim): EC2NodeClass {
  return {
    metadata: { name: claim.spec.nodeClassRef.name },
    spec: { subnetSelectorTerms: [], securityGroupSelectorTerms: [], amiSelectorTerms: [] },
  };
}
