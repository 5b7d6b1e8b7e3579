import { logEvent } from "#core/announcements/log-events.ts";
import { launchFailed } from "#core/history/claim-entries.ts";
import type { LaunchError } from "#core/launch/fleet-request.ts";
import { withConditions } from "#core/lifecycle/claim-status.ts";
import { claimLogFields, machineFields } from "#core/lifecycle/log-fields.ts";
import type { NodeClaim } from "#core/model/node-claim.ts";
import type { NodeClaimRecord } from "#core/model/node-claim-record.ts";
import type { LifecycleDeps } from "../../shared/cluster-deps.ts";
import { publishOnce } from "../../shared/publish-once.ts";
import { writeTermination } from "../../shared/terminate-claim.ts";
import { writeStatus } from "../../shared/write-status.ts";
import { type Performed, requeue } from "../claim-state.ts";

const MAX_MESSAGE_LENGTH = 300;

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
  if (kind === "Refused") {
    await deps.store.update({ ...record, launchFailedAt: deps.now() }, [launchFailed(record, deps.now(), { reason, message })]);
    const text = message.length > MAX_MESSAGE_LENGTH ? `${message.slice(0, MAX_MESSAGE_LENGTH)}...` : message;
    const conditions = withConditions({ now: deps.now() }, claim, [{ type: "Launched", status: "Unknown", reason, message: text }]);
    await writeStatus("NodeClaim", { ...claim, status: { ...claim.status, conditions } }, claim.status?.conditions, deps);
    return requeue();
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
  return requeue();
}
