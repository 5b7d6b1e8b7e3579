import { instanceFor } from "../launch-group/answer.ts";
import { conditionOf } from "../model/conditions.ts";
import type { LaunchGroup } from "../model/launch-group.ts";
import type { NodeClaim } from "../model/node-claim.ts";
import type { NodeClaimRecord } from "../model/node-claim-record.ts";

/*
 * How long a NodeClaim may take. A function can be late: the limits are for launches and nodes that fail, and not for
 * a turn that comes late. So what is due is tried first, and given up only after that has failed, or cannot be.
 */

/**
 * From the NodeClaim's creation until its instance must be launched
 * (karpenter: pkg/controllers/nodeclaim/lifecycle/liveness.go, LaunchTimeout).
 */
export const LAUNCH_TIMEOUT_MS = 5 * 60_000;
/**
 * From the NodeClaim's creation until its node must have joined
 * (karpenter: pkg/controllers/nodeclaim/lifecycle/liveness.go, registrationTimeout).
 */
export const REGISTRATION_TIMEOUT_MS = 15 * 60_000;

/**
 * The longest that a NodeClaim waits for its first turn, or for one that ends, before its pods are planned again: its
 * plan is old then. No benchmark has tuned it.
 */
export const UNTRIED_TIMEOUT_MS = 15 * 60_000;

/** The longest that EC2's bucket of requests puts the limits of a launch off, ms. */
const MAX_PUT_OFF_MS = 15 * 60_000;

/** Since when EC2 could have been asked, for the NodeClaim itself or for its group, ms. */
const launchableSince = ({ createdAt, launchPutOffAt = 0 }: NodeClaimRecord, group?: LaunchGroup): number =>
  Math.max(createdAt, Math.min(Math.max(launchPutOffAt, group?.launch?.requestedAt ?? 0), createdAt + MAX_PUT_OFF_MS));

/**
 * Whether a launch has taken so long that it may be given up; only its group, when it has one, decides whether it is.
 */
export const isLaunchOverdue = (record: NodeClaimRecord, now: number): boolean => now - launchableSince(record) > LAUNCH_TIMEOUT_MS;

/**
 * Whether a NodeClaim without an instance is given up: a try after the time-out has failed, or none has ended for long.
 * @param group of its launch, as far as there is one; what it has for the NodeClaim is taken however late it is
 */
export function isLaunchGivenUp(record: NodeClaimRecord, group: LaunchGroup | undefined, now: number): boolean {
  if (group && instanceFor(group, record.name)) return false;
  const since = launchableSince(record, group);
  const { launchFailedAt = 0, launchUnknownAt = 0 } = record;
  const failedAt = Math.max(launchFailedAt, launchUnknownAt, group?.launch?.unknownAt ?? 0);
  return failedAt - since > LAUNCH_TIMEOUT_MS || now - since > UNTRIED_TIMEOUT_MS;
}

/** Until when a launched NodeClaim's node must be registered, ms; a late launch leaves its node no less time. */
export const registrationDeadline = ({ createdAt, launchedAt = 0 }: NodeClaimRecord): number =>
  Math.max(createdAt + REGISTRATION_TIMEOUT_MS, launchedAt + REGISTRATION_TIMEOUT_MS - LAUNCH_TIMEOUT_MS);

/** The reason of the condition Registered when the API server has refused a write of the node. */
export const NODE_WRITE_REFUSED = "NodeWriteRefused";

/**
 * Whether a NodeClaim is given up whose node is not registered.
 * @param canRegister its node has joined, and nothing but a write is missing
 */
export function isRegistrationGivenUp(record: NodeClaimRecord, claim: NodeClaim, canRegister: boolean, now: number): boolean {
  const overdueMs = now - registrationDeadline(record);
  if (overdueMs <= 0) return false;
  const isRefused = conditionOf(claim.status?.conditions, "Registered")?.reason === NODE_WRITE_REFUSED;
  return !canRegister || isRefused || overdueMs > UNTRIED_TIMEOUT_MS;
}
