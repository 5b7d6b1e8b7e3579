import { plannedPriceText } from "../../disruption/prices/price.ts";
import { conditionOf, fromRfc3339 } from "../../model/conditions.ts";
import type { Plan } from "../../model/plan.ts";
import type { Pod } from "../../model/pod.ts";
import { podRequests } from "../../model/pod-requests.ts";
import { isActive, isDaemonSetPod, isPending, isProvisionable, podKey, podUid } from "../../pods/predicates.ts";
import { listed } from "../../scheduling/reasons/words.ts";
import { pendingPods } from "../../scheduling/solve.ts";
import type { Decisions, ReadState } from "./decisions.ts";
import { units } from "./rooms.ts";
import type { PodOverview, WaitingPods } from "./types.ts";

/** A pod as a list shows it. */
export function podOverview(pod: Pod): PodOverview {
  const requests = podRequests(pod);
  return {
    namespace: pod.metadata.namespace ?? "default",
    name: pod.metadata.name,
    node: pod.spec.nodeName ?? "",
    owner: pod.metadata.ownerReferences?.find(({ controller }) => controller)?.kind ?? pod.metadata.ownerReferences?.[0]?.kind ?? "",
    phase: pod.metadata.deletionTimestamp ? "Terminating" : (pod.status?.phase ?? (pod.spec.nodeName ? "Running" : "Pending")),
    createdAt: fromRfc3339(pod.metadata.creationTimestamp),
    cpu: units(requests, "cpu"),
    memory: units(requests, "memory"),
  };
}

interface Reason {
  readonly state: WaitingPods["state"];
  readonly text: string;
  readonly target?: string;
}

/** Pods that wait for a node, together where they wait for the same; those that no node can take come first. */
export function waitingPods(state: ReadState, decisions: Pick<Decisions, "plan"> | undefined): readonly WaitingPods[] {
  const { snapshot } = state;
  const pods = snapshot.pods.filter((pod) => isPending(pod) && isActive(pod) && !isDaemonSetPod(pod));
  if (pods.length === 0) return [];
  const planned = placesOf(decisions?.plan);
  const declining = new Set(pendingPods(snapshot).ignored.flatMap(({ pod, reason }) => (reason === "" ? [podKey(pod)] : [])));
  const reasonOf = (pod: Pod): Reason => {
    const nominated = snapshot.nominated.get(podUid(pod));
    if (nominated !== undefined) return comingText(nominated, snapshot);
    const place = planned.get(podKey(pod));
    if (place !== undefined) return place;
    if (declining.has(podKey(pod))) return { state: "other", text: "They ask not to run on nodes of a NodePool" };
    const scheduler = conditionOf(pod.status?.conditions, "PodScheduled")?.message;
    if (snapshot.displaced?.has(podUid(pod)))
      return { state: "coming", text: "Their place was taken by other pods; they wait until the other nodes of their plan have started" };
    if (isProvisionable(pod) && decisions !== undefined)
      return { state: "other", text: scheduler || "kube-scheduler makes room for them by a preemption" };
    return { state: "other", text: scheduler || "kube-scheduler has not tried them yet" };
  };
  const groups = Map.groupBy(
    pods.map((pod) => ({ pod, reason: reasonOf(pod) })),
    ({ reason }) => `${reason.state} ${reason.text}`,
  );
  return [...groups.values()]
    .flatMap((group) => (group[0] ? [{ ...group[0].reason, pods: group.map(({ pod }) => podOverview(pod)) }] : []))
    .sort((a, b) => ORDER[a.state] - ORDER[b.state] || b.pods.length - a.pods.length || (a.text < b.text ? -1 : 1));
}

/** That a NodeClaim comes for pods, or why EC2 does not launch it. */
function comingText(name: string, { nodeClaims }: ReadState["snapshot"]): Reason {
  const claim = nodeClaims.find(({ metadata }) => metadata.name === name);
  const launched = conditionOf(claim?.status?.conditions, "Launched");
  const text =
    launched?.status === "Unknown" && launched.message
      ? `NodeClaim ${name} is not launched yet: ${launched.message}`
      : `NodeClaim ${name} is on its way for them`;
  return { state: "coming", text, target: name };
}

const ORDER: Readonly<Record<WaitingPods["state"], number>> = { left: 0, planned: 1, coming: 2, room: 3, other: 4 };

/** Instance types that a sentence names. */
const MAX_TYPES = 3;

/** By "namespace/name": where the plan puts each pod, or why it does not. */
function placesOf(plan: Plan | undefined): ReadonlyMap<string, Reason> {
  if (plan === undefined) return new Map();
  const { newNodeClaims, existingNodes, podErrors } = plan;
  return new Map<string, Reason>([
    ...newNodeClaims.flatMap((planned) => {
      const { nodePool, instanceTypes, pods } = planned;
      const types = listed(instanceTypes, MAX_TYPES);
      const text = `The next pass buys a node from NodePool ${nodePool} for them: ${types}, from ${plannedPriceText(planned)}`;
      return pods.map((pod) => [pod, { state: "planned", text }] as const);
    }),
    ...existingNodes.flatMap(({ name, pods }) =>
      pods.map((pod) => [pod, { state: "room", text: `${name} has room, or will have; kube-scheduler binds them`, target: name }] as const),
    ),
    ...Object.entries(podErrors).map(([pod, text]) => [pod, { state: "left", text }] as const),
  ]);
}
