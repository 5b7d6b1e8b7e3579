import type { Node } from "#core/model/node.ts";
import type { NodeSelectorTerm, Pod, PodSpec } from "#core/model/pod.ts";
import { type Amounts, lacking, podRequests } from "../quantity.ts";
import { hostPorts, portsClash, selectsNode, tolerates, untolerated } from "./placement.ts";
import type { Room } from "./rooms.ts";
import type { PodVolumeRule } from "./volumes.ts";

/** Why a node cannot have a pod, in the words of kube-scheduler. */
export interface Refusal {
  readonly reasons: readonly string[];
  /** Whether fewer pods on the node may change it, so that preemption is tried there. */
  readonly isByPods: boolean;
}

/** Reasons of the rules that look at other pods and that no preemption changes. */
const NOT_BY_PODS = new Set([
  "node(s) didn't match pod topology spread constraints (missing required label)",
  "node(s) didn't match pod affinity rules",
]);

/**
 * The first rule that refuses the pod, in the order of kube-scheduler's plugins; only that of resources has several
 * reasons. Undefined when the node can have the pod.
 */
export function refusalRule(
  pod: Pod,
  volumes: PodVolumeRule,
): (room: Room, topology: (node: Node) => string | undefined) => Refusal | undefined {
  const requests = podRequests(pod);
  const ports = hostPorts(pod);
  const pinned = pinnedNodes(pod.spec);
  const byNode = (reason: string): Refusal => ({ reasons: [reason], isByPods: false });
  return ({ node, pods, used, allocatable, ports: taken }, topology) => {
    if (pinned && !pinned.has(node.metadata.name)) return byNode("node(s) didn't satisfy plugin(s) [NodeAffinity]");
    if (node.spec.unschedulable && !tolerates(pod.spec.tolerations, { key: "node.kubernetes.io/unschedulable", effect: "NoSchedule" })) {
      return byNode("node(s) were unschedulable");
    }
    if (untolerated(pod.spec, node.spec.taints)) return byNode("node(s) had untolerated taint(s)");
    if (!selectsNode(pod.spec, node)) return byNode("node(s) didn't match Pod's node affinity/selector");
    if (portsClash(ports, taken)) return { reasons: ["node(s) didn't have free ports for the requested pod ports"], isByPods: true };
    const free: Amounts = new Map(allocatable);
    for (const [name, amount] of used) free.set(name, (free.get(name) ?? 0) - amount);
    const short = lacking(requests, free);
    if (short.length > 0) {
      const reasons = short.map((name) => (name === "pods" ? "Too many pods" : `Insufficient ${name}`));
      return { reasons, isByPods: lacking(requests, allocatable).every((name) => name === "pods") };
    }
    if (volumes.exceeds(node, pods)) return { reasons: ["node(s) exceed max volume count"], isByPods: true };
    const unfit = volumes.refuses(node);
    if (unfit !== undefined) return byNode(unfit);
    const why = topology(node);
    return why === undefined ? undefined : { reasons: [why], isByPods: !NOT_BY_PODS.has(why) };
  };
}

/**
 * The names of the nodes to which every term of the required node affinity pins the pod, as with the pods of DaemonSets
 * (kubernetes: pkg/scheduler/framework/plugins/nodeaffinity/node_affinity.go, NodeAffinity.PreFilter); undefined
 * when a term names no node.
 */
function pinnedNodes({ affinity }: PodSpec): ReadonlySet<string> | undefined {
  const terms = affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? [];
  const named = ({ matchFields = [] }: NodeSelectorTerm): readonly string[] | undefined =>
    matchFields.find(({ key, operator }) => key === "metadata.name" && operator === "In")?.values;
  const names = terms.map(named);
  return names.length > 0 && names.every((some) => some !== undefined) ? new Set(names.flat()) : undefined;
}

/**
 * The sentence of a FitError: how many nodes refuse for which reason
 * (kubernetes: pkg/scheduler/framework/types.go, FitError.Error).
 */
export function refusedBy(nodes: number, reasons: readonly string[]): string {
  if (nodes === 0) return "no nodes available to schedule pods";
  const parts = [...Map.groupBy(reasons, (reason) => reason)].map(([reason, { length }]) => `${length} ${reason}`).sort();
  return `0/${nodes} nodes are available: ${parts.join(", ")}.`;
}

/** What kube-scheduler adds to that sentence when preemption does not help; DRA's plugin speaks first. */
export const withoutPreemption = (refused: string, why: string): string => `${refused} no new claims to deallocate, preemption: ${why}`;

/**
 * The sentence when a rule refuses the pod before any node is looked at. No preemption is tried, and the last words are
 * those of DRA's plugin, which misses its state then.
 */
export const refusedBeforeFilters = (nodes: number, why: string): string =>
  nodes === 0 ? refusedBy(0, []) : `0/${nodes} nodes are available: ${why}. not found`;
