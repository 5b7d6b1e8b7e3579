import { logEvent } from "#core/announcements/log-events.ts";
import { launchFailed } from "#core/history/claim-entries.ts";
import { failureReason } from "#core/launch/failure.ts";
import type { LaunchError } from "#core/launch/fleet-request.ts";
import { shortened } from "#core/lib/shortened.ts";
import { withConditions } from "#core/lifecycle/claim-status.ts";
import { claimLogFields, machineFields } from "#core/lifecycle/log-fields.ts";
import { conditionOf } from "#core/model/conditions.ts";
import { INSTANCE_TYPE } from "#core/model/labels.ts";
import type { NodeClaim } from "#core/model/node-claim.ts";
import type { NodeClaimRecord } from "#core/model/node-claim-record.ts";
import { remedyForText } from "#core/offerings/ec2-errors.ts";
import type { LifecycleDeps } from "../../shared/cluster-deps.ts";
import { publishOnce } from "../../shared/publish-once.ts";
import { writeTermination } from "../../shared/terminate-claim.ts";
import { writeStatus } from "../../shared/write-status.ts";
import { type Performed, requeue } from "../claim-state.ts";

/** Longest part of EC2's own text in a condition. */
const MAX_MESSAGE_LENGTH = 300;
/** Each event is two calls; of many equal pods, the first ones show the reason. */
const MAX_POD_EVENTS = 10;
/** The API server takes 1,024 bytes of an event's message. */
const MAX_EVENT_LENGTH = 900;

/**
 * Terminates a NodeClaim for which there is no capacity, so that its pods are planned again; any other refusal is
 * retried later.
 */
export async function refuse(
  { kind, reason, message }: LaunchError,
  record: NodeClaimRecord,
  claim: NodeClaim,
  deps: LifecycleDeps,
): Promise<Performed> {
  logEvent(deps.log, "failed launching nodeclaim", { ...claimLogFields(record.name), ...machineFields(record), error: message, reason });
  const about = { kind: "NodeClaim", metadata: claim.metadata } as const;
  if (kind === "Refused") {
    const remedy = remedyForText(message, subjectOf(claim, deps));
    const text = `${shortened(message.replace(/\.$/, ""), MAX_MESSAGE_LENGTH)}${remedy === "" ? "" : `; ${remedy}`}`;
    await deps.store.update({ ...record, launchFailedAt: deps.now() }, [launchFailed(record, deps.now(), { reason, message })]);
    await writeNotLaunched(claim, reason, text, deps);
    await publishOnce({ type: "Warning", reason, message: text, about }, deps);
    const before = conditionOf(claim.status?.conditions, "Launched")?.message;
    if (before !== text) await publishOnPods(record, "FailedScheduling", `Failed to schedule pod, NodeClaim ${record.name}: ${text}`, deps);
    return requeue();
  }
  const text = shortened(message, MAX_EVENT_LENGTH);
  if (kind === "InsufficientCapacity") await writeNotLaunched(claim, failureReason(message, reason), text, deps);
  const terminal = kind === "InsufficientCapacity" ? "insufficient_capacity" : "nodeclass_not_ready";
  // This very version, without the launch: terminateClaim would read the record again, and termination would look for
  // an instance that never existed.
  await writeTermination(record, terminal, deps, { detail: message });
  await deps.wakeUps.wake([
    { kind: "provision", cluster: deps.cluster.name, cause: "NodeClaimTerminating", detail: `${terminal} ${record.name}` },
  ]);
  if (kind === "InsufficientCapacity") {
    const event = `NodeClaim ${record.name} event: ${text}`;
    const reason = "InsufficientCapacityError";
    await publishOnce({ type: "Warning", reason, message: event, about }, deps);
    await publishOnPods(record, reason, `NodeClaim ${record.name} nominated for this pod failed to launch: ${text}`, deps);
  }
  return requeue();
}

/**
 * Publishes on the waiting pods of a NodeClaim why it is not launched: they are planned, so no plan says why they wait.
 * A kill before it costs the event of these pods; the NodeClaim and the page have the reason.
 */
async function publishOnPods({ podUids }: NodeClaimRecord, reason: string, message: string, deps: LifecycleDeps): Promise<void> {
  const uids = new Set(podUids);
  if (uids.size === 0) return;
  const pods = await deps.kubernetes.list("Pod", { fieldSelector: "spec.nodeName=,status.phase=Pending" });
  const own = pods.filter(({ metadata }) => uids.has(metadata.uid ?? "") && !metadata.deletionTimestamp).slice(0, MAX_POD_EVENTS);
  for (const { metadata } of own) await publishOnce({ type: "Warning", reason, message, about: { kind: "Pod", metadata } }, deps);
}

/** Says on the NodeClaim why it has not been launched. A NodeClaim that is gone needs none. */
async function writeNotLaunched(claim: NodeClaim, reason: string, message: string, deps: LifecycleDeps): Promise<void> {
  const conditions = withConditions({ now: deps.now() }, claim, [{ type: "Launched", status: "Unknown", reason, message }]);
  await writeStatus("NodeClaim", { ...claim, status: { ...claim.status, conditions } }, claim.status?.conditions, deps);
}

/** What the NodeClaim's launch is about: the region, and one of its types for the quota that bounds it. */
function subjectOf({ spec }: NodeClaim, { cluster }: LifecycleDeps): { readonly instanceType?: string; readonly zone?: string } {
  const instanceType = spec.requirements.find(({ key }) => key === INSTANCE_TYPE)?.values?.[0];
  const zone = cluster.arn?.split(":")[3];
  return { ...(instanceType !== undefined && { instanceType }), ...(zone !== undefined && { zone }) };
}
