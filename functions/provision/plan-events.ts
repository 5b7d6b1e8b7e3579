import { roundRobin } from "#core/lib/round-robin.ts";
import type { NodeClaimRecord } from "#core/model/node-claim-record.ts";
import type { Plan } from "#core/model/plan.ts";
import type { Snapshot } from "#core/model/snapshot.ts";
import { podKey } from "#core/pods/predicates.ts";
import { poolsWithoutTypes } from "#core/scheduling/reasons/no-types.ts";
import type { ClusterDeps } from "../shared/cluster-deps.ts";
import { publishOnce } from "../shared/publish-once.ts";

// The events of a plan.

/**
 * Publishes an event on each NodePool from which no node can be launched, when pods are left: it may be why.
 * Karpenter's window is a minute; here the table remembers the event, and ten minutes cost a tenth.
 */
export async function publishPoolEvents(snapshot: Snapshot, deps: ClusterDeps): Promise<void> {
  for (const { pool, byMinValues } of poolsWithoutTypes(snapshot, deps.settings)) {
    const message = `NodePool requirements filtered out all compatible available instance types${byMinValues ? " due to minValues incompatibility" : ""}`;
    const about = { kind: "NodePool" as const, metadata: pool.metadata };
    await publishOnce({ type: "Warning", reason: "NoCompatibleInstanceTypes", message, about }, deps, 10 * 60_000);
  }
}

/** Equal events of a pod within this time are published once. */
const POD_EVENT_WINDOW_MS = 5 * 60_000;

/**
 * Nominations and failures of one plan that are published, each: an event is two calls, and a large plan must not spend
 * its time on them. Karpenter's bound is 5 a second, burst 10; no benchmark has tuned this one.
 */
const MAX_EVENTS_PER_KIND = 10;

/** Each sweep, other pods' events come first, ms. */
const TURN_MS = 60_000;

const namespaceOf = (key: string): string => key.split("/", 1)[0] ?? "";

/** Publishes on each pod, for `kubectl describe pod`, where it should be scheduled or why it cannot be. */
export async function publishPodEvents(
  plan: Plan,
  records: readonly NodeClaimRecord[],
  snapshot: Snapshot,
  deps: ClusterDeps,
): Promise<void> {
  const byKey = new Map(snapshot.pods.map((pod) => [podKey(pod), pod]));
  const events = [
    ...plan.newNodeClaims.flatMap(({ pods }, index) =>
      pods.map((pod) => ({ pod, message: `Pod should schedule on: nodeclaim/${records[index]?.name}` })),
    ),
    ...plan.existingNodes.flatMap(({ name, pods }) => pods.map((pod) => ({ pod, message: `Pod should schedule on: node/${name}` }))),
  ].map((event) => ({ ...event, type: "Normal" as const, reason: "Nominated" }));
  const failures = Object.entries(plan.podErrors).map(([pod, error]) => ({
    pod,
    type: "Warning" as const,
    reason: "FailedScheduling",
    message: `Failed to schedule pod, ${error}`,
  }));
  // One tenant's pods must not hide from others why theirs wait.
  const turn = Math.floor(deps.now() / TURN_MS);
  const inTurns = <T extends { readonly pod: string }>(list: readonly T[]): readonly T[] =>
    roundRobin(list, ({ pod }) => namespaceOf(pod), turn).slice(0, MAX_EVENTS_PER_KIND);
  for (const { pod, ...event } of [...inTurns(failures), ...inTurns(events)]) {
    const metadata = byKey.get(pod)?.metadata;
    if (metadata) await publishOnce({ ...event, about: { kind: "Pod", metadata } }, deps, POD_EVENT_WINDOW_MS);
  }
}
