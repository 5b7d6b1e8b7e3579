import type { Node } from "#core/model/node.ts";
import type { Pod } from "#core/model/pod.ts";
import { same } from "#manifests/api-object.ts";
import type { Change } from "../store.ts";
import { isTerminal, isTerminating } from "./actor.ts";
import { untolerated } from "./placement.ts";

/** Whether an event may make a pod schedulable that kube-scheduler has tried in vain. */
export type Hint = (pod: Pod) => boolean;

const everyPod: Hint = () => true;
/** Where other pods are matters to pods with rules between pods. */
const podsWithRules: Hint = ({ spec }) =>
  spec.affinity?.podAffinity !== undefined || spec.affinity?.podAntiAffinity !== undefined || spec.topologySpreadConstraints !== undefined;

/**
 * Which pods kube-scheduler tries again after a change; undefined for none. It leaves the others alone, and with them
 * their nominated nodes, which it clears when it tries a pod in vain: a node with a taint that a pod does not tolerate
 * changes nothing for the pod (kubernetes: pkg/scheduler/framework/plugins/tainttoleration/taint_toleration.go,
 * TaintToleration.isSchedulableAfterNodeChange). Of its other hints the lab has none.
 */
export function hintOf({ kind, type, object, old }: Change): Hint | undefined {
  if (kind === "PersistentVolumeClaim" || kind === "PersistentVolume") return everyPod;
  if (kind === "Node") {
    const node = object as unknown as Node;
    if (type === "MODIFIED" && old !== undefined && !nodeMatters(node, old as unknown as Node)) return undefined;
    if (type === "DELETED") return everyPod;
    const taintsBefore = (old as unknown as Node | undefined)?.spec.taints;
    // A pod that waits for this node looks for another one when a taint closes it.
    return ({ spec, status }) =>
      untolerated(spec, node.spec.taints) === undefined ||
      (status?.nominatedNodeName === node.metadata.name && untolerated(spec, taintsBefore) === undefined);
  }
  if (kind !== "Pod") return undefined;
  const pod = object as unknown as Pod;
  const before = old as unknown as Pod | undefined;
  if (type === "DELETED" || isTerminal(pod) || isTerminating(pod)) return everyPod;
  if (pod.spec.nodeName) return before?.spec.nodeName ? undefined : podsWithRules;
  // A nomination that is changed or taken back frees the node that it was for.
  const freed = before?.status?.nominatedNodeName;
  if (freed && freed !== pod.status?.nominatedNodeName) return everyPod;
  const isSame = before !== undefined && same(before.spec, pod.spec) && same(before.metadata.labels, pod.metadata.labels);
  return isSame ? undefined : ({ metadata }) => metadata.uid === pod.metadata.uid;
}

/** The status of a heartbeat changes nothing for the scheduler; labels, taints and allocatable do. */
function nodeMatters(now: Node, before: Node): boolean {
  return (
    !same(now.metadata.labels, before.metadata.labels) ||
    !same(now.spec, before.spec) ||
    !same(now.status?.allocatable, before.status?.allocatable)
  );
}
