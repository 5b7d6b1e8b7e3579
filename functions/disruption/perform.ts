import type { CommandAction } from "#core/disruption/command/command-action.ts";
import { creationTimes, plannedEntry } from "#core/history/planned.ts";
import { snakeCase } from "#core/insight/metrics/labels.ts";
import { withLaunchGroups } from "#core/launch-group/plan.ts";
import { withDisruptedTaint, withoutDisruptedTaint } from "#core/lifecycle/disrupted-taint.ts";
import { conditionOf, withCondition, withoutCondition } from "#core/model/conditions.ts";
import type { HistoryEntry } from "#core/model/history-entry.ts";
import type { KubernetesObject } from "#core/model/kubernetes.ts";
import type { Lease } from "#core/model/lease.ts";
import type { Node } from "#core/model/node.ts";
import type { NodeClaim } from "#core/model/node-claim.ts";
import type { ClaimReason } from "#core/model/node-claim-record.ts";
import { isActive, podUid } from "#core/pods/predicates.ts";
import { intentFor } from "#core/provisioning/intent.ts";
import { nomineesOf } from "#core/provisioning/nominees.ts";
import { refusalsOf } from "#core/provisioning/refused.ts";
import type { ClusterDeps } from "../shared/cluster-deps.ts";
import type { ClusterState } from "../shared/cluster-state.ts";
import { countRepair } from "../shared/count-repair.ts";
import { ignoreGone, retryOnConflict } from "../shared/optimistic.ts";
import { publishOnce } from "../shared/publish-once.ts";
import { recordFailedLaunch } from "../shared/registration-health.ts";
import { terminateClaim } from "../shared/terminate-claim.ts";
import { writeIntents } from "../shared/write-intents.ts";
import { writeStatus } from "../shared/write-status.ts";
import { requestReboot } from "./request-reboot.ts";

interface CommandContext {
  readonly lease: Lease;
  readonly state: ClusterState;
  readonly deps: ClusterDeps;
  /** What the history keeps of the step, written where the step's replacements are. */
  readonly history?: readonly HistoryEntry[];
}

/** Performs one action of a command. Each may be repeated: what is done already stays as it is. */
export async function performCommandAction(action: CommandAction, context: CommandContext): Promise<void> {
  const { deps } = context;
  switch (action.type) {
    case "Taint":
      return changeNode(action.node, context, withDisruptedTaint);
    case "Untaint":
      return changeNode(action.node, context, withoutDisruptedTaint);
    case "SetDisruptionReason":
      return changeConditions(action.claim, context, (conditions, at) =>
        withCondition(conditions, { type: "DisruptionReason", status: "True", reason: action.reason, message: action.reason }, at),
      );
    case "ClearDisruptionReason":
      return changeConditions(action.claim, context, (conditions) => withoutCondition(conditions, "DisruptionReason"));
    case "WriteReplacements":
      return writeReplacements(action, context);
    case "DeleteClaim":
      return deleteClaim(action, context);
    case "RequestReboot":
      return requestReboot(action, deps);
    case "Event":
      return publishOnce(action.event, deps);
    case "Log":
      return deps.log[action.level](action.message, { controller: "disruption", ...action.fields });
    case "Count":
      return deps.metrics.count(action.metric, action.labels, action.value);
  }
}

async function deleteClaim(
  { claim: name, reason, commandId, repair }: Extract<CommandAction, { type: "DeleteClaim" }>,
  context: CommandContext,
): Promise<void> {
  const { deps, state } = context;
  if (reason === "empty") await recordUnused(name, context);
  if (repair === undefined) {
    const facts = reason === "drifted" ? driftOf(name, context) : policyOf(name, context);
    await terminateClaim(name, reason, deps, { commandId, ...facts });
    return;
  }
  // The drain's time begins now, with the replacement up. When this is done again the end is later and changes nothing.
  const deadline = deps.now() + repair.drainMs;
  const detail = `condition ${repair.condition} of the node${repair.reason === "" ? "" : `: ${repair.reason}`}`;
  const isEnded = await terminateClaim(name, reason, deps, { commandId, deadline, detail });
  const claim = named(state.snapshot.nodeClaims, name);
  if (isEnded && claim) countRepair(claim, repair, deps);
}

/** A node that no pod came to, while pods that it was bought for still wait: another one may help them as little. */
async function recordUnused(name: string, { state: { records, snapshot }, deps }: CommandContext): Promise<void> {
  const record = records.find((one) => one.name === name);
  const uids = new Set(record?.podUids);
  if (record && snapshot.pods.some((pod) => pod.spec.nodeName === undefined && isActive(pod) && uids.has(podUid(pod))))
    await recordFailedLaunch(record, "unused", deps);
}

/** What of the NodeClaim has drifted, as its condition says. */
function driftOf(name: string, { state }: CommandContext): { readonly detail?: string } {
  const claim = state.snapshot.nodeClaims.find(({ metadata }) => metadata.name === name);
  const { reason, message } = conditionOf(claim?.status?.conditions, "Drifted") ?? {};
  const detail = [reason, message].filter((text) => text !== undefined && text !== "" && text !== "Drifted");
  return detail.length === 0 ? {} : { detail: [...new Set(detail)].join(": ") };
}

/** The policy that the NodeClaim is consolidated by, as a label of metrics. */
function policyOf(name: string, { state: { snapshot, records } }: CommandContext): { readonly consolidationPolicy?: string } {
  const nodePool = records.find((record) => record.name === name)?.nodePool;
  const policy = snapshot.nodePools.find(({ metadata }) => metadata.name === nodePool)?.spec.disruption?.consolidationPolicy;
  return policy === undefined ? {} : { consolidationPolicy: snakeCase(policy) };
}

const MAX_TRIES = 5;

type Conditions = NonNullable<NonNullable<NodeClaim["status"]>["conditions"]>;

function changeNode(name: string, { state, deps }: CommandContext, change: (node: Node) => Node | undefined): Promise<void> {
  const { kubernetes } = deps;
  return persist(named(state.snapshot.nodes, name), async (listed) => {
    const node = listed ?? (await kubernetes.get("Node", name));
    const changed = node && change(node);
    if (changed !== undefined) await kubernetes.update("Node", changed);
  });
}

function changeConditions(
  name: string,
  { state, deps }: CommandContext,
  change: (conditions: Conditions, at: { readonly now: number; readonly generation?: number }) => Conditions,
): Promise<void> {
  return persist(named(state.snapshot.nodeClaims, name), async (listed) => {
    const claim = listed ?? (await deps.kubernetes.get("NodeClaim", name));
    if (claim === undefined) return;
    const before = claim.status?.conditions ?? [];
    const { generation } = claim.metadata;
    const conditions = change(before, { now: deps.now(), ...(generation !== undefined && { generation }) });
    if (conditions !== before) await writeStatus("NodeClaim", { ...claim, status: { ...claim.status, conditions } }, before, deps);
  });
}

/**
 * Kubelets and the lifecycle write these objects all the time: a change is tried on the object as this pass has listed
 * it, and after a conflict on one that is read again. An object that is gone needs no mark.
 */
async function persist<T>(listed: T | undefined, change: (listed: T | undefined) => Promise<void>): Promise<void> {
  let first = listed;
  const attempt = (): Promise<void> => {
    const object = first;
    first = undefined;
    return change(object);
  };
  await ignoreGone(retryOnConflict(MAX_TRIES, attempt));
}

const named = <T extends KubernetesObject>(objects: readonly T[], name: string): T | undefined =>
  objects.find(({ metadata }) => metadata.name === name);

/** Writes the command and the intents, and wakes the lifecycle for each NodeClaim. */
async function writeReplacements(
  { replacements, command }: Extract<CommandAction, { type: "WriteReplacements" }>,
  { lease, state, deps, history = [] }: CommandContext,
): Promise<void> {
  const { cluster, now, settings } = deps;
  const createdAt = creationTimes(state.snapshot.pods);
  const pools = new Map(state.snapshot.nodePools.map((pool) => [pool.metadata.name, pool]));
  const nominees = nomineesOf(state.snapshot);
  const made = replacements.flatMap(({ name, intentId, planned }) => {
    const pool = pools.get(planned.nodePool);
    // Since the decision the planner may have nominated some of the pods to other NodeClaims; those pods stay with
    // them.
    const podUids = nominees(planned).filter((uid) => !state.snapshot.nominated.has(uid));
    const reason = command.reason.toLowerCase() as ClaimReason;
    const instanceTypes = state.snapshot.instanceTypes.get(planned.nodePool) ?? [];
    const refusals = refusalsOf(podUids, state.records);
    const facts = {
      cluster: cluster.name,
      id: intentId,
      name,
      now: now(),
      reason,
      podUids,
      refusals,
      commandId: command.id,
      instanceTypes,
    };
    if (pool === undefined) return [];
    const record = intentFor(planned, pool, facts);
    const together = replacements.length;
    return [{ record, entry: plannedEntry(planned, record, { instanceTypes, createdAt, together }) }];
  });
  const records = withLaunchGroups(
    made.map(({ record }) => record),
    settings.launchTogether,
  );
  await writeIntents(lease, { records, command, history: [...history, ...made.map(({ entry }) => entry)] }, deps);
}
