import { lineOf } from "../announcements/log-events.ts";
import { removedEntries } from "../history/claim-entries.ts";
import { parseDuration } from "../lib/duration.ts";
import { type ConditionChange, conditionOf, fromRfc3339, isTrue, rfc3339 } from "../model/conditions.ts";
import { NODE_POOL, TERMINATION_FINALIZER, TERMINATION_TIMESTAMP, ZONE } from "../model/labels.ts";
import type { Node } from "../model/node.ts";
import type { NodeClaim } from "../model/node-claim.ts";
import type { NodeClaimRecord } from "../model/node-claim-record.ts";
import type { PublishedEvent } from "../ports/kubernetes.ts";
import type { MetricName } from "../ports/metric-registry.ts";
import { forgetAt, isRefused, retryAt } from "../provisioning/refused.ts";
import { SETTLE_MS } from "../signals/signal.ts";
import type { Action, ClaimView, Step } from "./action.ts";
import { metricLabels, writeConditions } from "./claim-status.ts";
import { type DrainEnd, drainNode, recordEnd } from "./drain-node.ts";
import { isAlive } from "./garbage-collection.ts";
import { FOREIGN_INSTANCE, foreignInstance, isDoneWith, isStranger } from "./identity.ts";
import { isGone } from "./instance-state.ts";
import { groupLaunch } from "./launch.ts";
import { machineFields } from "./log-fields.ts";
import { terminationPaused } from "./paused.ts";
import { isRegistered, withoutFinalizer } from "./registration.ts";

/** Wait after a search for a launch in EC2 before the next one. No benchmark has tuned it. */
const INSTANCE_POLL_MS = 5_000;

/**
 * EC2 is asked for the end of an instance so long after TerminateInstances, ms, in case that its event is lost. An
 * instance ends within 30 to 90 s. No benchmark has tuned them.
 */
const END_POLLS_MS = [5_000, 15_000, 30_000, 40_000, 50_000, 60_000, 70_000, 80_000];
const END_WAIT_MS = 90_000;

/**
 * How long a launch whose answer was lost is searched for in EC2; garbage collection terminates an instance that
 * appears later.
 */
const MAX_LOST_LAUNCH_MS = 60_000;

/**
 * The next step of a termination, in Karpenter's order: delete the NodeClaim, delete the node, taint, drain, wait for
 * volumes, terminate the instance, remove the node's finalizer, remove the NodeClaim's finalizer, remove the record.
 * Each call takes the first step that is not done
 * (karpenter: pkg/controllers/node/termination/controller.go, Controller.finalize).
 */
export function terminate(view: ClaimView, record: NodeClaimRecord): Step {
  const paused = terminationPaused(view, record);
  if (paused) return paused;
  const claim = view.claim && !isStranger(record, view.claim) ? view.claim : undefined;
  const foreign = holdForeign(view, record, claim);
  if (foreign) return foreign;
  if (claim !== undefined && claim.metadata.deletionTimestamp === undefined)
    return { actions: [{ type: "DeleteClaim", claim }], again: true };
  const annotated = claim && withDeadline(view, record, claim);
  if (annotated) return annotated;

  // Without a NodeClaim of ours and without an instance, the nodes that were found belong to another owner.
  const nodes = claim === undefined && record.instance === undefined ? [] : view.nodes;
  const registered = nodes.filter((node) => isRegistered(node) || isTrue(claim?.status?.conditions, "Registered"));
  const undeleted = registered.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  if (undeleted.length > 0) return { actions: undeleted.map((node) => ({ type: "DeleteNode", node })), again: true };

  const node = registered.find(({ metadata }) => metadata.finalizers?.includes(TERMINATION_FINALIZER));
  const draining = node === undefined ? {} : drainNode(view, record, claim, node);
  if (draining.step !== undefined) return draining.step;
  const stopping = stopInstance(view, record, claim, draining.end);
  if (stopping) return stopping;
  if (claim !== undefined && draining.end !== undefined) return { actions: recordEnd(view, claim, draining.end), again: true };
  if (node !== undefined) return freeNode(view, node, record);
  if (claim !== undefined && !isDoneWith(claim)) return freeClaim(view, claim, record);
  const kept = isRefused(record) ? keepRefused(view, record) : undefined;
  if (kept) return kept;
  // The disruption budget that this node used is free again, and so is its part of the NodePool's limits.
  const { cluster, name } = record;
  return {
    actions: [
      { type: "Wake", wakeUp: { kind: "disruption", cluster, cause: "NodesRemoved", delayMs: SETTLE_MS } },
      { type: "Wake", wakeUp: { kind: "provision", cluster, cause: "NodeClaimRemoved", detail: name } },
      { type: "Forget", record, history: removedEntries(record, view.now) },
    ],
  };
}

/** How often the tags of an instance that is not the NodeClaim's are compared again. No benchmark has tuned it. */
const FOREIGN_POLL_MS = 10 * 60_000;

/**
 * Leaves an instance alone whose tags name another owner, and its node; undefined when the tags agree. What was adopted
 * is compared before its drain begins, because only the NodeClaim's status named its instance; all instances are
 * compared when they are about to be terminated.
 */
function holdForeign(view: ClaimView, record: NodeClaimRecord, claim: NodeClaim | undefined): Step | undefined {
  if (record.instance === undefined) return undefined;
  if (view.instance === undefined) {
    // A drain reads its node's pods every few seconds, and ends nothing that is not compared again.
    const isDraining = conditionOf(claim?.status?.conditions, "Drained") !== undefined;
    return record.reason === "adopted" && !isDraining ? { actions: [], ask: "instance" } : undefined;
  }
  // EC2 takes the tags off an instance some time after its end.
  if (view.instance === "gone" || !isAlive(view.instance)) return undefined;
  const problem = foreignInstance(view.instance, record);
  if (problem === undefined) return undefined;
  const message = `The instance is not terminated: ${problem}; correct its tags, or remove the finalizer ${TERMINATION_FINALIZER} to give up the NodeClaim`;
  const about = claim && ({ kind: "NodeClaim", metadata: claim.metadata } as const);
  return {
    actions: [
      { type: "Log", level: "error", message: "instance belongs to another owner", fields: { ...machineFields(record), error: problem } },
      ...(about ? [{ type: "Event", event: { type: "Warning", reason: FOREIGN_INSTANCE, message, about } } as const] : []),
    ],
    wakeAt: view.now + FOREIGN_POLL_MS,
  };
}

/** Keeps the record of a NodeClaim that was refused for a while; undefined when that time is over. */
function keepRefused({ now }: ClaimView, record: Parameters<typeof retryAt>[0]): Step | undefined {
  const { cluster, name } = record;
  if (now < retryAt(record)) return { actions: [], wakeAt: retryAt(record) };
  if (now >= forgetAt(record)) return undefined;
  const wakeUp = { kind: "provision", cluster, cause: "NodeClaimRemoved", detail: name } as const;
  return { actions: [{ type: "Wake", wakeUp }], wakeAt: forgetAt(record) };
}

/**
 * Writes the deadline of the drain once, as an annotation: from terminationGracePeriod, or from the record when the
 * instance ends by itself. A written deadline is only moved to an earlier time
 * (karpenter: pkg/controllers/nodeclaim/lifecycle/controller.go, annotateTerminationGracePeriodTerminationTime).
 */
function withDeadline({ nodes }: ClaimView, { terminating }: NodeClaimRecord, claim: NodeClaim): Step | undefined {
  const written = fromRfc3339(claim.metadata.annotations?.[TERMINATION_TIMESTAMP]);
  const period = parseDuration(claim.spec.terminationGracePeriod ?? "") ?? Number.NaN;
  const graceful = Number.isNaN(written) ? fromRfc3339(claim.metadata.deletionTimestamp) + period : written;
  const wanted = Math.min(...[graceful, terminating?.deadline ?? Number.NaN].filter((at) => !Number.isNaN(at)));
  if (wanted === Number.POSITIVE_INFINITY || wanted >= written) return undefined;
  const deadline = rfc3339(wanted);
  const metadata = { ...claim.metadata, annotations: { ...claim.metadata.annotations, [TERMINATION_TIMESTAMP]: deadline } };
  const abouts: readonly PublishedEvent["about"][] = [
    { kind: "NodeClaim", metadata: claim.metadata },
    ...nodes.map((node) => ({ kind: "Node", metadata: node.metadata }) as const),
  ];
  const expiring = {
    type: "Warning",
    reason: "TerminationGracePeriodExpiring",
    message: `All pods will be deleted by ${deadline}`,
  } as const;
  return {
    actions: [
      { type: "WriteClaim", claim: { ...claim, metadata }, metadata: true, status: false },
      { type: "Log", level: "info", message: "annotated nodeclaim", fields: { [TERMINATION_TIMESTAMP]: deadline } },
      ...abouts.map((about): Action => ({ type: "Event", event: { ...expiring, about } })),
    ],
    again: true,
  };
}

/** Undefined when EC2 no longer has the instance. */
function stopInstance(view: ClaimView, record: NodeClaimRecord, claim: NodeClaim | undefined, end: DrainEnd | undefined): Step | undefined {
  if (record.instance === undefined) {
    if (record.launch === undefined) return groupLaunch(view, record, claim);
    // An invocation that does not know yet that the NodeClaim is removed may be sending the launch at this moment.
    const { launchRequestedAt = record.createdAt, launchUnknownAt = 0 } = record;
    const sentAtLatest = Math.max(launchRequestedAt, launchUnknownAt, record.terminating?.at ?? 0);
    if (view.now - sentAtLatest > MAX_LOST_LAUNCH_MS) return undefined;
    return { actions: [{ type: "FindInstance", record }], wakeAt: view.now + INSTANCE_POLL_MS };
  }
  if (view.instance === undefined) return { actions: [], ask: "instance" };
  if (isGone(view, record)) return undefined;
  const isTerminating: ConditionChange = { type: "InstanceTerminating", status: "True" };
  const condition = claim
    ? [...writeConditions(view, claim, [...(end?.conditions ?? []), isTerminating]), ...(end ? [end.counted] : [])]
    : [];
  const wait = { wakeAt: view.now + END_WAIT_MS, polls: END_POLLS_MS.map((ms) => view.now + ms), waitsFor: "end" } as const;
  if (view.instance !== "gone" && view.instance.state === "shutting-down") return { actions: condition, ...wait };
  return { actions: [{ type: "TerminateInstance", instanceId: record.instance.id }, ...condition], ...wait };
}

function freeNode(view: ClaimView, node: Node, record: NodeClaimRecord): Step {
  const metadata = { ...node.metadata, finalizers: withoutFinalizer(node.metadata.finalizers) };
  const nodepool = record.nodePool ?? node.metadata.labels?.[NODE_POOL] ?? "";
  return {
    actions: [
      { type: "WriteNode", node: { ...node, metadata } },
      { type: "Log", ...lineOf("deleted node", { Node: { name: node.metadata.name } }) },
      { type: "Count", metric: "nodes_terminated_total", labels: { nodepool, zone: node.metadata.labels?.[ZONE] ?? "" } },
      ...observe(view, "nodes_termination_duration_seconds", nodepool, node.metadata.deletionTimestamp),
      ...observe(view, "nodes_lifetime_duration_seconds", nodepool, node.metadata.creationTimestamp),
    ],
    again: true,
  };
}

function freeClaim(view: ClaimView, claim: NodeClaim, record: NodeClaimRecord): Step {
  const metadata = { ...claim.metadata, finalizers: withoutFinalizer(claim.metadata.finalizers) };
  const labels = metricLabels(claim, record);
  const terminating = conditionOf(claim.status?.conditions, "InstanceTerminating");
  return {
    actions: [
      { type: "WriteClaim", claim: { ...claim, metadata }, metadata: true, status: false },
      {
        type: "Log",
        ...lineOf("deleted nodeclaim", { ...machineFields(record), reason: record.terminating?.reason }),
      },
      { type: "Count", metric: "nodeclaims_terminated_total", labels },
      ...observe(view, "nodeclaims_termination_duration_seconds", labels["nodepool"], claim.metadata.deletionTimestamp),
      ...observe(view, "nodeclaims_instance_termination_duration_seconds", labels["nodepool"], terminating?.lastTransitionTime),
    ],
    again: true,
  };
}

/** Observes the seconds since a time (RFC 3339); nothing when the time is absent. */
function observe({ now }: ClaimView, metric: MetricName<"histogram">, nodepool = "", since: string | undefined): readonly Action[] {
  const seconds = (now - fromRfc3339(since)) / 1_000;
  return Number.isNaN(seconds) ? [] : [{ type: "Observe", metric, labels: { nodepool }, seconds: Math.max(seconds, 0) }];
}
