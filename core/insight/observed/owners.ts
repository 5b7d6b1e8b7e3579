import type { KubernetesObject } from "../../model/kubernetes.ts";
import { CAPACITY_TYPE, NODE_POOL } from "../../model/labels.ts";
import type { Look } from "./trace.ts";

/** What decides about the nodes of a cluster. */
type Autoscaler = "Karpenter" | "EKS Auto Mode" | "Cluster Autoscaler" | "no autoscaler";

const AUTO_MODE = "eks.amazonaws.com/compute-type";
const NODE_GROUP = "eks.amazonaws.com/nodegroup";
const NODE_GROUP_CAPACITY = "eks.amazonaws.com/capacityType";
const APP = "app.kubernetes.io/name";
/** Names that the charts of Cluster Autoscaler and AWS's example manifest give it. */
const CLUSTER_AUTOSCALERS: ReadonlySet<string | undefined> = new Set(["cluster-autoscaler", "aws-cluster-autoscaler"]);

/** The autoscaler of a cluster, by its pods and by the labels that it puts on nodes. */
export function autoscalerOf({ Node = [], Pod = [], NodePool = [] }: Look): Autoscaler {
  if (Node.some(({ metadata }) => metadata.labels?.[AUTO_MODE] === "auto")) return "EKS Auto Mode";
  if (Pod.some(({ metadata: { labels } }) => CLUSTER_AUTOSCALERS.has(labels?.[APP]) || CLUSTER_AUTOSCALERS.has(labels?.["app"])))
    return "Cluster Autoscaler";
  return NodePool.length > 0 || Node.some(({ metadata }) => metadata.labels?.[NODE_POOL] !== undefined) ? "Karpenter" : "no autoscaler";
}

/**
 * The NodePool, or the node group of Cluster Autoscaler, that a node belongs to. Undefined for other nodes, such as
 * those that an autoscaler runs on itself: they are there in a replay as they were.
 */
export function groupOf({ metadata: { labels = {} } }: KubernetesObject, autoscaler: string): string | undefined {
  return labels[NODE_POOL] ?? (autoscaler === "Cluster Autoscaler" ? labels[NODE_GROUP] : undefined);
}

/** "spot" or "on-demand", also of nodes of managed node groups. */
export const capacityTypeOf = ({ metadata: { labels = {} } }: KubernetesObject): string =>
  labels[CAPACITY_TYPE] ?? (labels[NODE_GROUP_CAPACITY] === "SPOT" ? "spot" : "on-demand");
