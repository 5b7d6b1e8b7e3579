import { ownValue } from "../../lib/own-value.ts";
import { HOSTNAME } from "../../model/labels.ts";
import type { Pod } from "../../model/pod.ts";
import { filterAdmitsNode } from "../rules/topology-group.ts";
import type { NodeState } from "./existing-node.ts";
import type { PodData } from "./pod-class.ts";
import type { TopologyState } from "./topology-state.ts";

/**
 * Puts a pod on an existing node when all rules allow it. "never" lasts for the rest of the attempt; "not now" may
 * change with the pods that are placed elsewhere.
 */
export function putOnNode(state: NodeState, podData: PodData, pod: Pod, topology: TopologyState): "placed" | "not now" | "never" {
  if (!state.accepts(podData)) return "never";
  if (!state.attaches(podData, pod)) return "not now";
  const { labels, taints, hostname } = state.node.view;
  const domainOf = (key: string): string | undefined => (key === HOSTNAME ? hostname : ownValue(labels, key));
  if (!podData.deciding.every((group) => topology.allows(group, podData, domainOf(group.key)))) return "not now";
  state.take(podData, pod);
  for (const group of podData.counting) {
    const domain = domainOf(group.key);
    if (domain !== undefined && filterAdmitsNode(group.filter, labels, taints)) topology.add(group, domain, 1);
  }
  return "placed";
}
