import { fromRfc3339 } from "../../model/conditions.ts";
import type { ResourceList } from "../../model/kubernetes.ts";
import type { Node } from "../../model/node.ts";
import type { Pod } from "../../model/pod.ts";
import { podRequests } from "../../model/pod-requests.ts";
import { addResources, parseResources, type Resources, resourcesProblem, subtractResources } from "../../model/quantity.ts";
import type { Snapshot } from "../../model/snapshot.ts";
import { isActive, isDaemonSetPod } from "../../pods/predicates.ts";
import { managedProviderIds, nodeLabels } from "./node-labels.ts";
import type { ScrapedName } from "./registry.ts";
import { gaugeOf, resourceLabel, type Sample } from "./sample.ts";

/** What the pods of a node ask for. */
interface Load {
  readonly requests: Resources;
  readonly limits: Resources;
  readonly daemonRequests: Resources;
  readonly daemonLimits: Resources;
}

/** Amounts that can be read; an amount that cannot be read counts as absent. */
const readable = (list: ResourceList | undefined): Resources => (resourcesProblem(list) === undefined ? parseResources(list) : {});

/** The limits of a pod's containers together. */
function podLimits({ spec }: Pod): Resources {
  const sidecars = (spec.initContainers ?? []).filter(({ restartPolicy }) => restartPolicy === "Always");
  return addResources(...[...(spec.containers ?? []), ...sidecars].map(({ resources }) => readable(resources?.limits)));
}

function loadOf(pods: readonly Pod[]): Load {
  const daemons = pods.filter(isDaemonSetPod);
  return {
    requests: addResources(...pods.map(podRequests)),
    limits: addResources(...pods.map(podLimits)),
    daemonRequests: addResources(...daemons.map(podRequests)),
    daemonLimits: addResources(...daemons.map(podLimits)),
  };
}

type NodeGauge = Extract<ScrapedName, `nodes_${string}`>;

const samples = (name: NodeGauge, amounts: Resources, labels: Readonly<Record<string, string>>): readonly Sample[] =>
  Object.entries(amounts).map(([resource, milli]) => ({
    name,
    labels: { ...labels, resource_type: resourceLabel(resource) },
    value: gaugeOf(resource, milli),
  }));

function gaugesOfNode(node: Node, load: Load, labels: Readonly<Record<string, string>>, now: number): readonly Sample[] {
  const allocatable = readable(node.status?.allocatable);
  const age = (now - fromRfc3339(node.metadata.creationTimestamp)) / 1_000;
  return [
    ...samples("nodes_allocatable", allocatable, labels),
    ...samples("nodes_system_overhead", subtractResources(readable(node.status?.capacity), allocatable), labels),
    ...samples("nodes_total_pod_requests", load.requests, labels),
    ...samples("nodes_total_pod_limits", load.limits, labels),
    ...samples("nodes_total_daemon_requests", load.daemonRequests, labels),
    ...samples("nodes_total_daemon_limits", load.daemonLimits, labels),
    ...(Number.isFinite(age) ? [{ name: "nodes_current_lifetime_seconds", labels, value: age } as const] : []),
  ];
}

/** Gauges of each node, and of all nodes together. */
export function nodeGauges({ now, nodes, pods, nodeClaims }: Snapshot): readonly Sample[] {
  const onNode = Map.groupBy(pods.filter(isActive), ({ spec }) => spec.nodeName);
  const providerIds = managedProviderIds(nodeClaims);
  const loads = nodes.map((node) => ({ node, load: loadOf(onNode.get(node.metadata.name) ?? []) }));
  const allocatable = addResources(...nodes.map(({ status }) => readable(status?.allocatable)));
  const requested = addResources(...loads.map(({ load }) => load.requests));
  return [
    { name: "cluster_state_node_count", labels: {}, value: nodes.length },
    ...Object.entries(allocatable).flatMap(([resource, total]): readonly Sample[] =>
      total > 0
        ? [
            {
              name: "cluster_utilization_percent",
              labels: { resource_type: resourceLabel(resource) },
              value: (100 * (requested[resource] ?? 0)) / total,
            },
          ]
        : [],
    ),
    ...loads.flatMap(({ node, load }) => gaugesOfNode(node, load, nodeLabels(node, providerIds), now)),
  ];
}
