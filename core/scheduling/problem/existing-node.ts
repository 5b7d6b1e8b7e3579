import type { Pod } from "../../model/pod.ts";
import { podRequests } from "../../model/pod-requests.ts";
import { addResources, maxResources, type Resources, subtractResources } from "../../model/quantity.ts";
import { isDaemonSetPod, isTerminal } from "../../pods/predicates.ts";
import { untolerated } from "../../pods/taints.ts";
import { labelsCompatible } from "../../requirements/requirements.ts";
import { type HostPort, hostPorts, takenPort } from "../rules/host-ports.ts";
import type { Volumes } from "../rules/volumes.ts";
import { hasRoom, type ResourceAxis } from "../tables/resource-axis.ts";
import { EBS_VOLUMES, NO_VOLUME_LIMIT } from "../tables/resource-columns.ts";
import { type Daemon, expectedDaemons } from "./daemon-overhead.ts";
import type { NodeView } from "./node-view.ts";
import type { PodData } from "./pod-class.ts";

/** An existing node that can take pods, as it is before the run. */
export interface ExistingNode {
  readonly view: NodeView;
  /**
   * Room left for pods, less that of DaemonSet pods that do not run there yet; milli-units in the order of the axis.
   */
  readonly room: Float64Array;
  /** Whether the node's pods request more of some resource than it has: then no pod fits. */
  readonly overcommitted: boolean;
  /** Host ports of its pods, and those of DaemonSet pods that do not run there yet. */
  readonly ports: readonly HostPort[];
  /** By CSI driver: claims ("namespace/name") of attached volumes. */
  readonly volumes: ReadonlyMap<string, ReadonlySet<string>>;
  /** By CSI driver: how many volumes the node may attach. */
  readonly volumeLimits: ReadonlyMap<string, number>;
}

/**
 * Nodes in the order in which pods try them: initialized nodes first, then by name
 * (karpenter: pkg/controllers/provisioning/scheduling/scheduler.go, Scheduler.sortExistingNodes).
 */
export function existingNodes(
  views: readonly NodeView[],
  bound: readonly Pod[],
  daemons: readonly Daemon[],
  volumes: Volumes,
  axis: ResourceAxis,
): readonly ExistingNode[] {
  const podsByNode = new Map<string, Pod[]>();
  for (const pod of bound) {
    if (isTerminal(pod)) continue;
    const name = pod.spec.nodeName ?? "";
    const list = podsByNode.get(name);
    if (list === undefined) podsByNode.set(name, [pod]);
    else list.push(pod);
  }
  const ordered = [...views].sort((a, b) => Number(b.initialized) - Number(a.initialized) || (a.name < b.name ? -1 : 1));
  return ordered.map((view) => {
    const pods = podsByNode.get(view.node?.metadata.name ?? view.name) ?? [];
    const requests = pods.map(podRequests);
    const requested = addResources(...requests);
    const daemonsHere = addResources(...requests.filter((_, i) => isDaemonSetPod(pods[i] as Pod)));
    const due = expectedDaemons(daemons, view.labels, view.taints);
    const expected = addResources(...due.map((daemon) => daemon.requests));
    const owners = new Set(pods.flatMap(({ metadata }) => (metadata.ownerReferences ?? []).map(({ uid }) => uid)));
    const free = subtractResources(view.allocatable, requested);
    const stillExpected: Resources = maxResources(subtractResources(expected, daemonsHere), {});
    const left = subtractResources(free, positive(stillExpected));
    return {
      view,
      room: axis.vector({ ...left, [EBS_VOLUMES]: NO_VOLUME_LIMIT * 1000 }),
      overcommitted: Object.values(free).some((amount) => amount < 0),
      // A DaemonSet pod that does not run yet keeps its host ports: it is bound as soon as the node is ready, before
      // pods of the plan.
      ports: [...pods.flatMap((pod) => hostPorts(pod.spec)), ...due.flatMap(({ uid, ports }) => (owners.has(uid) ? [] : ports))],
      volumes: attached(pods, volumes),
      volumeLimits: volumes.limits(view),
    };
  });
}

function positive(resources: Resources): Resources {
  return Object.fromEntries(Object.entries(resources).filter(([, amount]) => amount > 0));
}

function attached(pods: readonly Pod[], volumes: Volumes): ReadonlyMap<string, ReadonlySet<string>> {
  const byDriver = new Map<string, Set<string>>();
  for (const pod of pods) {
    for (const [driver, claims] of volumes.of(pod).claimsByDriver) {
      const set = byDriver.get(driver) ?? new Set();
      for (const claim of claims) set.add(claim);
      byDriver.set(driver, set);
    }
  }
  return byDriver;
}

/** Whether a pod may run on a node by the node's labels and taints, which do not change during a run. */
export function suitsNode(podData: PodData, { labels, taints }: NodeView): boolean {
  if (untolerated(taints, podData.tolerations) !== undefined || !labelsCompatible(labels, podData.requirements)) return false;
  const { volumeAlternatives } = podData.class;
  return volumeAlternatives.length === 0 || volumeAlternatives.some((set) => labelsCompatible(labels, set));
}

/**
 * Whether a node may attach a pod's volumes beside those that are `attached` to it, by CSI driver
 * (karpenter: pkg/scheduling/volumeusage.go, VolumeUsage.ExceedsLimits).
 */
export function attachesBeside(
  podData: PodData,
  pod: Pod,
  { volumeLimits }: ExistingNode,
  attached: ReadonlyMap<string, ReadonlySet<string>> | undefined,
): boolean {
  for (const [driver, claims] of podData.class.attaches?.(pod) ?? []) {
    const limit = volumeLimits.get(driver);
    if (limit === undefined) continue;
    const together = new Set([...(attached?.get(driver) ?? []), ...claims]);
    if (together.size > limit) return false;
  }
  return true;
}

/** An existing node during one attempt, with the pods that the attempt puts there. */
export class NodeState {
  readonly node: ExistingNode;
  readonly room: Float64Array;
  readonly pods: Pod[] = [];
  #ports: readonly HostPort[];
  readonly #volumes: Map<string, ReadonlySet<string>>;

  constructor(node: ExistingNode) {
    this.node = node;
    this.room = Float64Array.from(node.room);
    this.#ports = node.ports;
    this.#volumes = new Map(node.volumes);
  }

  /**
   * Whether the node takes a pod, topology and volume limits left aside. A refusal lasts for the rest of the attempt.
   */
  accepts(podData: PodData): boolean {
    const { view, overcommitted } = this.node;
    if (overcommitted || !hasRoom(this.room, 0, podData.vector)) return false;
    if (podData.class.ports.length > 0 && takenPort(podData.class.ports, this.#ports) !== undefined) return false;
    return suitsNode(podData, view);
  }

  /**
   * Whether the node may still attach this pod's volumes. Pods of one class may share volumes, so each pod is checked.
   */
  attaches(podData: PodData, pod: Pod): boolean {
    return attachesBeside(podData, pod, this.node, this.#volumes);
  }

  /** Puts a pod on the node. */
  take(podData: PodData, pod: Pod): void {
    for (let r = 0; r < this.room.length; r++) this.room[r] = (this.room[r] ?? 0) - (podData.vector[r] ?? 0);
    this.pods.push(pod);
    if (podData.class.ports.length > 0) this.#ports = [...this.#ports, ...podData.class.ports];
    for (const [driver, claims] of podData.class.attaches?.(pod) ?? []) {
      this.#volumes.set(driver, new Set([...(this.#volumes.get(driver) ?? []), ...claims]));
    }
  }
}
