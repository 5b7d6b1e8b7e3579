import { parseDuration } from "../lib/duration.ts";
import { type ConditionChange, conditionOf, fromRfc3339, isTrue } from "../model/conditions.ts";
import { INITIALIZED, REBOOT_GRACE_PERIOD, REBOOT_PRE_BOOT_ID, REBOOTING_TAINT } from "../model/labels.ts";
import type { Node } from "../model/node.ts";
import type { NodeClaim } from "../model/node-claim.ts";
import type { NodeClaimRecord } from "../model/node-claim-record.ts";
import { rebootsUntil } from "../repair/reboots.ts";
import type { Action, ClaimView, Step } from "./action.ts";
import { withConditions, writeConditions } from "./claim-status.ts";
import { drain } from "./drain.ts";
import { markTerminating, NODE_DELETED, wakePlanner } from "./mark-terminating.ts";
import { endPaused } from "./paused.ts";
import { hasTaint } from "./registration.ts";

/** (karpenter: pkg/controllers/nodeclaim/reboot/controller.go, pollInterval) */
const POLL_MS = 15_000;
/** The least time of a drain, so that a pod bound just before the taint is seen. */
const MIN_DRAIN_MS = 5_000;
/** How long EC2 may take to accept the reboot, and the node to come back after it (observationWindow there). */
const ISSUE_MS = 5 * 60_000;
const RECOVERY_MS = 20 * 60_000;
/**
 * EC2 has no token for a reboot. It is asked again only after this time, which is more than an invocation may take: a
 * late one must not reboot a node that is back.
 */
const ASK_AGAIN_MS = 2 * 60_000;

/** One reboot, as the NodeClaim says it. */
interface Episode {
  readonly claim: NodeClaim;
  readonly record: NodeClaimRecord;
  /** When it was requested, ms. */
  readonly since: number;
  /** The fault for which the node is rebooted. */
  readonly message: string;
  /** The most that the drain may take, ms; undefined where the annotation cannot be read. */
  readonly drainMs: number | undefined;
}

/**
 * The next step of a reboot that the condition Rebooting asks for: taint, drain, reboot, and the node's return. What
 * was done is read from the NodeClaim and the node, whose boot id proves the reboot
 * (karpenter: pkg/controllers/nodeclaim/reboot/controller.go, Controller.Reconcile).
 */
export function reboot(view: ClaimView, record: NodeClaimRecord, claim: NodeClaim): Step {
  const { reason, message = "", lastTransitionTime } = conditionOf(claim.status?.conditions, "Rebooting") ?? {};
  const since = fromRfc3339(lastTransitionTime);
  const period = claim.metadata.annotations?.[REBOOT_GRACE_PERIOD];
  const drainMs = period === undefined ? 0 : parseDuration(period);
  const episode: Episode = { claim, record, since, message, drainMs };
  if (drainMs === undefined || drainMs < 0) return refused(view, episode, `reboot termination grace period "${period}" is no duration`);
  const node = view.nodes[0];
  if (node?.metadata.deletionTimestamp !== undefined) return markTerminating(view, record, "deleted", { detail: NODE_DELETED });
  if (reason !== "RebootIssued") return unissued(view, { ...episode, drainMs }, node);
  if (view.now > issuedAtOf(claim) + RECOVERY_MS)
    return failed(view, episode, "recovery_timeout", "node did not recover within the observation window");
  return node ? observe(view, episode, node) : { actions: [], wakeAt: view.now + POLL_MS };
}

/** A reboot that EC2 has not been asked for, or has not accepted. */
function unissued(view: ClaimView, episode: Episode & { readonly drainMs: number }, node: Node | undefined): Step {
  const { record, since, drainMs } = episode;
  if (view.rebootRefused !== undefined)
    return failed(view, episode, "provider_error", `reboot rejected by the cloud provider: ${view.rebootRefused}`);
  const held = endPaused(view);
  if (held) return held;
  // A pause may have held it until now.
  const isAsked = (record.rebootSentAt ?? 0) >= since;
  if ((isAsked || node === undefined) && view.now > since + Math.max(drainMs, MIN_DRAIN_MS) + ISSUE_MS)
    return failed(view, episode, "provider_error", "reboot was not issued within the issuance timeout");
  return node ? issue(view, episode, node) : { actions: [], wakeAt: view.now + POLL_MS };
}

/** When the reboot was issued, ms: from then on the NodeClaim is not initialized. */
const issuedAtOf = ({ status }: NodeClaim): number => fromRfc3339(conditionOf(status?.conditions, "Initialized")?.lastTransitionTime);

/** Taint, drain, and the call. */
function issue(view: ClaimView, episode: Episode, node: Node): Step {
  const { claim, record, since, message } = episode;
  if (!hasTaint(node, REBOOTING_TAINT)) {
    const taints = [...(node.spec.taints ?? []), REBOOTING_TAINT];
    return { actions: [{ type: "WriteNode", node: { ...node, spec: { ...node.spec, taints } } }], again: true };
  }
  const before = claim.metadata.annotations?.[REBOOT_PRE_BOOT_ID];
  const bootId = node.status?.nodeInfo?.bootID ?? "";
  if (before === undefined) {
    const draining = drainFor(view, episode, node);
    if (draining) return draining;
    const metadata = { ...claim.metadata, annotations: { ...claim.metadata.annotations, [REBOOT_PRE_BOOT_ID]: bootId } };
    return { actions: [{ type: "WriteClaim", claim: { ...claim, metadata }, metadata: true, status: false }], again: true };
  }
  const issued: readonly Action[] = writeConditions(view, claim, [
    { type: "Rebooting", status: "True", reason: "RebootIssued", message },
    { type: "Initialized", status: "Unknown", reason: "Rebooting", message: "node is rebooting" },
  ]);
  if (bootId !== before) return { actions: issued, again: true };
  const { rebootSentAt = 0 } = record;
  // An earlier run may have sent it and been killed; a new boot id shows it once the node is back.
  if (rebootSentAt >= since && view.now < rebootSentAt + ASK_AGAIN_MS) return { actions: [], wakeAt: view.now + POLL_MS };
  const next = { ...record, rebootSentAt: view.now, reboots: rebootsUntil(record, since) };
  const instanceId = record.instance?.id ?? "";
  return { actions: [{ type: "WriteRecord", record: next }, { type: "RebootInstance", instanceId }, ...issued], again: true };
}

/** Evicts the pods until none is left or the time is over: then the rest stays through the reboot. */
function drainFor(view: ClaimView, { record, claim, since, drainMs = 0 }: Episode, node: Node): Step | undefined {
  if (drainMs === 0) return undefined;
  if (view.pods === undefined) return { actions: [], ask: "pods" };
  const end = since + Math.max(drainMs, MIN_DRAIN_MS);
  const step = view.now < end ? drain({ ...view, pods: view.pods }, record, claim, node) : undefined;
  if (step) return { actions: step.actions, wakeAt: Math.min(end, view.now + POLL_MS) };
  return view.now < since + MIN_DRAIN_MS ? { actions: [], wakeAt: since + MIN_DRAIN_MS } : undefined;
}

/** The node's return: a new boot, and Ready. */
function observe(view: ClaimView, episode: Episode, node: Node): Step {
  const { claim, since } = episode;
  const hasRebooted = (node.status?.nodeInfo?.bootID ?? "") !== claim.metadata.annotations?.[REBOOT_PRE_BOOT_ID];
  const changed = afterIssue(node, hasRebooted);
  if (changed) return { actions: [{ type: "WriteNode", node: changed }], again: true };
  if (!hasRebooted) return { actions: [], wakeAt: view.now + POLL_MS };
  const about = { kind: "NodeClaim", metadata: claim.metadata } as const;
  const message = "New boot observed (bootID changed); awaiting node readiness";
  const observed: Action = { type: "Event", event: { type: "Normal", reason: "RebootObserved", message, about } };
  if (!isTrue(node.status?.conditions, "Ready")) return { actions: [observed], wakeAt: view.now + POLL_MS };
  const recovery = (view.now - issuedAtOf(claim)) / 1_000;
  const succeeded = ended(view, claim, { reason: "RebootSucceeded", message: "node rebooted and rejoined the cluster" });
  return {
    actions: [
      observed,
      ...succeeded,
      ...counted("succeeded", view.now - since),
      { type: "Observe", metric: "nodes_reboot_recovery_duration_seconds", labels: {}, seconds: recovery },
    ],
    again: true,
  };
}

/** The node without the label of its last boot and, once rebooted, without our taint; undefined when it has neither. */
function afterIssue(node: Node, hasRebooted: boolean): Node | undefined {
  const isLabelled = node.metadata.labels?.[INITIALIZED] !== undefined;
  const isTainted = hasRebooted && hasTaint(node, REBOOTING_TAINT);
  if (!isLabelled && !isTainted) return undefined;
  const { [INITIALIZED]: _, ...labels } = node.metadata.labels ?? {};
  const taints = (node.spec.taints ?? []).filter(({ key }) => !hasRebooted || key !== REBOOTING_TAINT.key);
  return { ...node, metadata: { ...node.metadata, labels }, spec: { ...node.spec, taints } };
}

/** A reboot that did not help ends in the replacement of the node, whose drain has the same bound. */
function failed(view: ClaimView, { claim, record, since, drainMs = 0 }: Episode, result: RebootResult, message: string): Step {
  const step = markTerminating(view, record, "unhealthy", { deadline: view.now + drainMs, detail: message });
  return {
    ...step,
    actions: [...step.actions, failure(claim, message), ...counted(result, view.now - since), ...wakePlanner(record, "unhealthy")],
  };
}

/** A request that cannot be read changes nothing about the node. */
function refused(view: ClaimView, { claim, since }: Episode, message: string): Step {
  const actions = ended(view, claim, { reason: "RebootFailed", message });
  return { actions: [...actions, failure(claim, message), ...counted("invalid_request", view.now - since)], again: true };
}

const failure = ({ metadata }: NodeClaim, message: string): Action => ({
  type: "Event",
  event: { type: "Warning", reason: "RebootFailed", message, about: { kind: "NodeClaim", metadata } },
});

/** The NodeClaim at the end of its reboot: what is of this one alone is taken off. */
function ended(view: ClaimView, claim: NodeClaim, change: Required<Pick<ConditionChange, "reason" | "message">>): readonly Action[] {
  const { [REBOOT_PRE_BOOT_ID]: _, ...annotations } = claim.metadata.annotations ?? {};
  const conditions = withConditions(view, claim, [{ type: "Rebooting", status: "False", ...change }]);
  const after = { ...claim, metadata: { ...claim.metadata, annotations }, status: { ...claim.status, conditions } };
  return [{ type: "WriteClaim", claim: after, metadata: true, status: true }];
}

type RebootResult = "succeeded" | "provider_error" | "recovery_timeout" | "invalid_request";

/** (karpenter: pkg/controllers/nodeclaim/reboot/metrics.go, RebootsTotal) */
const counted = (result: RebootResult, tookMs: number): readonly Action[] => [
  { type: "Count", metric: "nodes_reboots_total", labels: { result } },
  { type: "Observe", metric: "nodes_reboot_duration_seconds", labels: { result }, seconds: tookMs / 1_000 },
];
