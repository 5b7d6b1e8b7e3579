import { bounded, terminatingEntries } from "../history/claim-entries.ts";
import { conditionOf } from "../model/conditions.ts";
import type { NodeClaim } from "../model/node-claim.ts";
import type { NodeClaimRecord } from "../model/node-claim-record.ts";
import type { Action, ClaimView, Step } from "./action.ts";
import { LAUNCH_TIMEOUT_MS, REGISTRATION_TIMEOUT_MS } from "./time-limits.ts";

// The decision that a NodeClaim is removed; termination.ts has what follows from it.

export const NODE_DELETED = "the deletion of its node was requested";

/** What a record holds about a termination beside its reason. */
export interface TerminationFacts {
  /** Termination waits for nothing beyond it, ms. */
  readonly deadline?: number;
  /** A phrase for people; its end is cut off where it is long. */
  readonly detail?: string;
  readonly commandId?: string;
  /** Of the NodePool, in snake case, when a command consolidates. */
  readonly consolidationPolicy?: string;
}

/**
 * Decides that a NodeClaim is removed. The record says so first; the deletion of the NodeClaim object and all else
 * follow from it.
 */
export function markTerminating(
  view: { readonly now: number },
  record: NodeClaimRecord,
  reason: string,
  { deadline, detail, commandId, consolidationPolicy }: TerminationFacts = {},
): Step {
  const said = {
    ...(detail !== undefined && { detail: bounded(detail) }),
    ...(commandId !== undefined && { commandId }),
    ...(consolidationPolicy !== undefined && { consolidationPolicy }),
  };
  const terminating = { reason, at: view.now, ...said, ...(deadline !== undefined && { deadline }) };
  const next = { ...record, terminating, dueAt: view.now };
  const labels = {
    reason,
    nodepool: record.nodePool ?? "",
    capacity_type: record.instance?.capacityType ?? "",
  };
  const counted: readonly Action[] = reason === "deleted" ? [] : [{ type: "Count", metric: "nodeclaims_disrupted_total", labels }];
  return { actions: [{ type: "WriteRecord", record: next, history: terminatingEntries(next, view.now) }, ...counted], again: true };
}

/** kube-scheduler writes no new condition for pods that still wait, so provisioning is woken from here. */
export function wakePlanner({ cluster, name }: NodeClaimRecord, reason: string): readonly Action[] {
  return [{ type: "Wake", wakeUp: { kind: "provision", cluster, cause: "NodeClaimTerminating", detail: `${reason} ${name}` } }];
}

const TIMEOUTS = { launch_timeout: LAUNCH_TIMEOUT_MS, registration_timeout: REGISTRATION_TIMEOUT_MS };

/** Gives a NodeClaim up whose machine or node has not come in time. */
export function timeOut(view: ClaimView, record: NodeClaimRecord, claim: NodeClaim, reason: keyof typeof TIMEOUTS): Step {
  const { conditions } = claim.status ?? {};
  const launched = conditionOf(conditions, "Launched");
  const last = reason === "launch_timeout" ? launched : conditionOf(conditions, "Registered");
  const step = markTerminating(view, record, reason, last?.message ? { detail: last.message } : {});
  const why =
    launched?.status === "True"
      ? {}
      : { reason: launched?.reason ?? "LaunchFailed", message: launched?.message ?? "Failed to launch node" };
  const registration: Action = { type: "RecordRegistration", claim, outcome: { claim: record.name, registered: false, ...why } };
  // Before the planner is woken, so that it does not buy again at once.
  const failed: readonly Action[] = record.instance === undefined ? [] : [{ type: "RecordFailedLaunch", record, end: "unregistered" }];
  const log: Action = {
    type: "Log",
    level: "debug",
    message: "terminating due to timeout",
    fields: { timeout: `${TIMEOUTS[reason] / 60_000}m`, reason },
  };
  return { ...step, actions: [log, registration, ...failed, ...step.actions, ...wakePlanner(record, reason)] };
}
