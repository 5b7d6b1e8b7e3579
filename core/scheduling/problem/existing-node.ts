import type { Pod } from "../../model/pod.ts";
import { podRequests } from "../../model/pod-requests.ts";
import { addResources, maxResources, type Resources, subtractResources } from "../../model/quantity.ts";
import { isDaemonSetPod, isTerminal } from "../../pods/predicates.ts";
import { untolerated } from "../../pods/taints.ts";
import { labelsCompatible } from "../../requirements/requirements.ts";
import { type HostPort, hostPorts, takenPort } from "../rules/host-ports.ts";
import type { Volumes } from "../rules/volumes.ts";
import { hasRoom, type ResourceAxis } from "../tables/resource-axis.ts";
import { type Daemon, expectedDaemons } from "./daemon-overhead.ts";
import type { NodeView } from "./node-view.ts";
import type { PodData } from "./pod-class.ts";

/** A node that can take pods, as it is before the run. */
export interface ExistingNode {
  readonly view: NodeView;
  /** Room left for pods, less daemons that are still to come; milli-units by axis. */
  readonly room: Float64Array;
  /** More is requested than the node has, in some resource: nothing fits. */
  readonly overcommitted: boolean;
  /** Host ports taken, and those that daemons still to come will take. */
  readonly ports: readonly HostPort[];
  /** CSI driver to volumes attached. */
  readonly volumes: ReadonlyMap<string, ReadonlySet<string>>;
  readonly volumeLimits: ReadonlyMap<string, number>;
}

/** Nodes in the order in which they are tried: initialized first, then by name. */
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
    const requests = pods.map((pod) => podRequests(pod.spec));
    const here = addResources(...requests);
    const daemonsHere = addResources(...requests.filter((_, i) => isDaemonSetPod(pods[i] as Pod)));
    const due = expectedDaemons(daemons, view.labels, view.taints);
    const expected = addResources(...due.map((daemon) => daemon.requests));
    const owners = new Set(pods.flatMap(({ metadata }) => (metadata.ownerReferences ?? []).map(({ uid }) => uid)));
    const free = subtractResources(view.allocatable, here);
    const toCome: Resources = maxResources(subtractResources(expected, daemonsHere), {});
    const rest = subtractResources(free, positive(toCome));
    return {
      view,
      room: axis.vector(rest),
      overcommitted: Object.values(free).some((amount) => amount < 0),
      // A daemon that is still to come finds its host ports free: it is bound as soon as the node is ready, before any pod of the plan.
      ports: [...pods.flatMap((pod) => hostPorts(pod.spec)), ...due.flatMap(({ uid, ports }) => (owners.has(uid) ? [] : ports))],
      volumes: attached(pods, volumes),
      volumeLimits: volumes.limits(view.node?.metadata.name ?? ""),
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

/** Whether a node suits by what never changes about it: its labels and taints. */
export function suitsNode(podData: PodData, { labels, taints }: NodeView): boolean {
  if (untolerated(taints, podData.tolerations) !== undefined || !labelsCompatible(labels, podData.requirements)) return false;
  return podData.volumeSets.length === 0 || podData.class.volumeAlternatives.some((set) => labelsCompatible(labels, set));
}

/** Whether a node may attach a pod's volumes beside those that are `attached` to it, by CSI driver. */
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

/** A node that fills up during one attempt. */
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

  /** Everything but topology; what it refuses once it refuses for the rest of the attempt. */
  accepts(podData: PodData): boolean {
    const { view, overcommitted } = this.node;
    if (overcommitted || !hasRoom(this.room, 0, podData.vector)) return false;
    if (podData.class.ports.length > 0 && takenPort(podData.class.ports, this.#ports) !== undefined) return false;
    return suitsNode(podData, view);
  }

  /** Whether the node may still attach this pod's volumes. Pods of one class may share volumes, so each is asked about. */
  attaches(podData: PodData, pod: Pod): boolean {
    return attachesBeside(podData, pod, this.node, this.#volumes);
  }

  take(podData: PodData, pod: Pod): void {
    for (let r = 0; r < this.room.length; r++) this.room[r] = (this.room[r] ?? 0) - (podData.vector[r] ?? 0);
    this.pods.push(pod);
    if (podData.class.ports.length > 0) this.#ports = [...this.#ports, ...podData.class.ports];
    for (const [driver, claims] of podData.class.attaches?.(pod) ?? []) {
      this.#volumes.set(driver, new Set([...(this.#volumes.get(driver) ?? []), ...claims]));
    }
  }
}
