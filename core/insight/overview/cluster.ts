// Room core/insight/overview: what a person asks about a cluster. In: a snapshot, with records and commands where they
// are known, and how the deployment decides. Out: one plain object (types.ts) of nodes, pools, waiting pods, NodeClaims
// on their way and disruption, with reasons in words. It must not know who shows it: no HTML, no columns, no server.

import { type StateNode, viewCluster } from "../../disruption/cluster/view.ts";
import { expiryOf } from "../../lifecycle/expiry.ts";
import { conditionOf, fromRfc3339, isTrue } from "../../model/conditions.ts";
import { CAPACITY_TYPE, INSTANCE_TYPE, ZONE } from "../../model/labels.ts";
import { isIntended } from "../../model/node-claim.ts";
import type { Pod } from "../../model/pod.ts";
import { podRequests } from "../../model/pod-requests.ts";
import { addResources } from "../../model/quantity.ts";
import { isActive, isDaemonSetPod } from "../../pods/predicates.ts";
import { machinesOf, type NodeView, nodeViews } from "../../scheduling/problem/node-view.ts";
import { claimsOnTheWay, stepTimes } from "./claims.ts";
import { commandOverview } from "./commands.ts";
import { type NodeCosts, nodeCosts, sumOfCosts } from "./costs.ts";
import type { Decisions, ReadState } from "./decisions.ts";
import { fatesOf } from "./fates.ts";
import { poolOverviews } from "./node-pools.ts";
import { podOverview, waitingPods } from "./pods.ts";
import { roomsOf } from "./rooms.ts";
import type { ClusterOverview, Fate, NodeOverview, PodOverview } from "./types.ts";

const OTHER: Fate = { verdict: "other", text: "No NodePool of ours made it, so it is never disrupted", details: [] };

/**
 * The overview of a cluster. Without `decisions`, which take long on a large cluster, nodes have no reason to stay and
 * waiting pods only what kube-scheduler says.
 *
 *     clusterOverview("prod", state, decisionsOf(state, settings)).nodes[0]?.fate.text;
 */
export function clusterOverview(name: string, state: ReadState, decisions?: Decisions, remarks: readonly string[] = []): ClusterOverview {
  const { snapshot, records, commands } = state;
  const view = viewCluster({ snapshot, records, commands, now: snapshot.now });
  const fates = fatesOf(view.machines.values(), state, decisions);
  const podsByNode = Map.groupBy(
    snapshot.pods.filter((pod) => pod.spec.nodeName),
    (pod) => pod.spec.nodeName ?? "",
  );
  const nodes = nodeViews(view.snapshot)
    .filter(({ node }) => node !== undefined)
    .map((one) => nodeOverview(one, view.machines.get(one.claim?.metadata.name ?? ""), state, podsByNode, fates));
  const times = stepTimes(state);
  const ours = nodes.filter(({ fate }) => fate.verdict !== "other");
  const costs = costsByPool(nodeViews(view.snapshot), state);
  const waiting = waitingPods(state, decisions);
  const planned = decisions?.pass.command;
  return {
    ...{ name, at: snapshot.now, remarks },
    cost: sumOfCosts([...costs.values()].flat()),
    pods: { total: snapshot.pods.length, waiting: waiting.reduce((sum, { pods }) => sum + pods.length, 0) },
    nodePools: poolOverviews(view, ours, costs),
    ...{ nodes, waiting },
    claims: claimsOnTheWay(state, times),
    stepTimes: times,
    commands: [...commands.map((one) => commandOverview(one)), ...(planned ? [commandOverview(planned, "planned")] : [])],
  };
}

/** What runs costs, also before it has joined the cluster; by NodePool. */
function costsByPool(views: readonly NodeView[], { snapshot }: ReadState): ReadonlyMap<string, readonly NodeCosts[]> {
  // EC2 stops the bill when an instance starts to shut down.
  const isPaid = ({ claim }: NodeView): boolean =>
    claim === undefined || !(isIntended(claim) || isTrue(claim.status?.conditions, "InstanceTerminating"));
  const running = machinesOf(views).filter((view) => view.nodePool !== undefined && isPaid(view));
  const byPool = Map.groupBy(running, ({ nodePool = "" }) => nodePool);
  return new Map(
    [...byPool].map(([name, own]) => [name, own.map(({ labels }) => nodeCosts(labels, snapshot.instanceTypes.get(name) ?? []))]),
  );
}

/** All pods of a cluster, by node and name. */
export function podOverviews({ snapshot }: Pick<ReadState, "snapshot">): readonly PodOverview[] {
  return snapshot.pods.map(podOverview).sort((a, b) => compare(a.namespace, b.namespace) || compare(a.name, b.name));
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

function nodeOverview(
  view: NodeView,
  machine: StateNode | undefined,
  { snapshot }: ReadState,
  podsByNode: ReadonlyMap<string, readonly Pod[]>,
  fates: ReadonlyMap<string, Fate>,
): NodeOverview {
  const { labels, nodePool = "", claim } = view;
  const pods = (podsByNode.get(view.name) ?? []).filter(isActive);
  const costs = nodeCosts(labels, snapshot.instanceTypes.get(nodePool) ?? []);
  const fate = (claim && fates.get(claim.metadata.name)) ?? OTHER;
  const { state, problem } = stateOf(view, fate);
  const expiresAt = machine?.claim.spec.expireAfter === undefined ? undefined : expiryOf(machine.claim);
  return {
    name: view.name,
    nodeClaim: claim?.metadata.name ?? "",
    nodePool,
    instanceType: labels[INSTANCE_TYPE] ?? "",
    capacityType: labels[CAPACITY_TYPE] ?? "",
    zone: labels[ZONE] ?? "",
    state,
    ...(problem !== undefined && { problem }),
    createdAt: fromRfc3339(view.node?.metadata.creationTimestamp ?? claim?.metadata.creationTimestamp),
    ...(expiresAt !== undefined && { expiresAt }),
    ...costs,
    room: roomsOf(addResources(...pods.map(podRequests)), view.allocatable),
    pods: pods.filter((pod) => !isDaemonSetPod(pod)).length,
    fate,
  };
}

function stateOf({ node, initialized }: NodeView, fate: Fate): Pick<NodeOverview, "state" | "problem"> {
  if (fate.verdict === "leaving") return { state: "leaving" };
  const ready = conditionOf(node?.status?.conditions, "Ready");
  const isReady = ready === undefined || ready.status === "True";
  if (!initialized) return { state: "starting", problem: isReady ? "It is not initialized yet" : "Its kubelet is not ready yet" };
  if (!isReady) return { state: "not ready", problem: ready.message || ready.reason || "Its kubelet is not ready" };
  return node?.spec.unschedulable ? { state: "ready", problem: "It is cordoned" } : { state: "ready" };
}
