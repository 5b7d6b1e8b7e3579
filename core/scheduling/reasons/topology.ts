import { HOSTNAME } from "../../model/labels.ts";
import { describeTaint, untolerated } from "../../pods/taints.ts";
import type { Requirements } from "../../requirements/requirements.ts";
import type { NodeState } from "../problem/existing-node.ts";
import type { PodData } from "../problem/pod-class.ts";
import type { TopologyState } from "../problem/topology-state.ts";
import { takenPort } from "../rules/host-ports.ts";
import type { TopologyGroup } from "../rules/topology-group.ts";
import type { ResourceAxis } from "../tables/resource-axis.ts";
import { amountText, counted, inOrder, listed, requirementText, selectorText } from "./words.ts";

const ANYWHERE: Requirements = new Map();
/** The hostname of a node that does not exist yet. */
export const NEW_HOST = "a-new-host";

/**
 * Domains in which a group allows the pod on a node with the requirements `node` (default: any node); "any" when it
 * allows all.
 */
export function allowedDomains(
  topology: TopologyState,
  group: TopologyGroup,
  podData: PodData,
  node = ANYWHERE,
): readonly string[] | "any" {
  const choices = topology.choices(group, podData, node, NEW_HOST, () => 0);
  return choices === "any" ? choices : inOrder(new Set(choices.flat()));
}

/**
 * Explains which topology rule (spread, pod affinity, anti-affinity) keeps a pod off a pool's new nodes, and what the
 * rule would allow. The counts of a rule's domains are rendered once.
 */
export class TopologyReasons {
  readonly #topology: TopologyState;
  readonly #nodes: readonly NodeState[];
  readonly #axis: ResourceAxis;
  /** By index of the group: the text of its counts. */
  readonly #countTexts = new Map<number, string>();

  constructor(topology: TopologyState, nodes: readonly NodeState[], axis: ResourceAxis) {
    this.#topology = topology;
    this.#nodes = nodes;
    this.#axis = axis;
  }

  /**
   * Why a group refuses the pod. `here` are the domains of the group's key that the pool's new nodes for the pod could
   * have, and `confines` begins the sentence that names them.
   */
  text(group: TopologyGroup, podData: PodData, here: readonly string[], confines: string): string {
    const open = allowedDomains(this.#topology, group, podData);
    const offers = offersText(group, open, here, confines);
    switch (group.kind) {
      case "spread": {
        const rule = `the pod's spread over ${group.key} with maxSkew ${group.maxSkew}`;
        if (open !== "any" && open.length > 0) return `${rule} lets it go to ${listed(open)} only${this.#now(group)}, and ${offers}`;
        return this.#noSpread(group, podData, rule);
      }
      case "affinity":
        return this.#noAffinity(group, podData, open, offers);
      case "anti": {
        const rule = `the pod keeps away from pods with ${selectorText(group.selector)} by ${group.key}`;
        if (open !== "any" && open.length > 0) return `${rule}; free of them: ${listed(open)}, and ${offers}`;
        return `${rule}, and every one that it may use has some${this.#now(group)}; allow more than one in each, or add domains`;
      }
      case "inverse": {
        const rule = `pods that are there keep the pod away by ${group.key}: their anti-affinity is about ${selectorText(group.selector)}`;
        return `${rule}${this.#now(group)}; move them, or change their anti-affinity or the pod's labels`;
      }
    }
  }

  #noSpread(group: TopologyGroup, podData: PodData, rule: string): string {
    const known = this.#topology.counts[group.index]?.size ?? 0;
    if (known === 0) return `${rule} needs nodes with that label, and no pool or node has it`;
    const few = group.minDomains ?? 0;
    if (known < few) {
      return `${rule} and minDomains ${few} allows ${group.maxSkew} in each while only ${known} domains are there${this.#now(group)}; add domains, or lower minDomains`;
    }
    const wanted = podData.strict.get(group.key);
    const within = wanted === undefined ? "" : ` among ${requirementText(wanted)}`;
    return `${rule} allows it nowhere${within}: the next must go where fewest are${this.#now(group)}`;
  }

  #noAffinity(group: TopologyGroup, podData: PodData, open: readonly string[] | "any", offers: string): string {
    const matching = `pods with ${selectorText(group.selector)}`;
    const near = [...(this.#topology.counts[group.index] ?? [])].flatMap(([domain, n]) => (n > 0 ? [domain] : []));
    if (near.length === 0 && open !== "any" && open.length > 0)
      return `the pod must share its ${group.key} with ${matching}, may be the first in ${listed(open)}, and ${offers}`;
    if (near.length === 0) {
      return `the pod must share its ${group.key} with ${matching}, and none runs or is planned; start one first, or see whether the labels are right`;
    }
    const rule = `the pod must share its ${group.key} with ${matching}, which are`;
    if (group.key !== HOSTNAME) return `${rule} in ${listed(inOrder(near), 5)}, and ${offers}`;
    const present = this.#nodes.filter(({ node }) => near.includes(node.view.hostname));
    const planned = near.length - present.length;
    return `${rule} on ${listed(
      [
        ...present.map((state) => `${state.node.view.name} (it ${refusal(state, podData, this.#axis)})`),
        ...(planned === 0 ? [] : [`${counted(planned, "new node")} of this run, too full for the pod`]),
      ],
      3,
    )}`;
  }

  /** " (pods now: zone-a 3 and zone-b 1)"; empty without domains. */
  #now(group: TopologyGroup): string {
    const known = this.#countTexts.get(group.index);
    if (known !== undefined) return known;
    const counts = this.#topology.counts[group.index] ?? new Map<string, number>();
    const shown = inOrder(counts.keys()).map((domain) => `${domain} ${counts.get(domain)}`);
    const text = shown.length === 0 ? "" : ` (pods now: ${listed(shown)})`;
    this.#countTexts.set(group.index, text);
    return text;
  }
}

/** Why the pool has no node in the domains that a group allows. */
function offersText({ key }: TopologyGroup, open: readonly string[] | "any", here: readonly string[], confines: string): string {
  if (here.length === 0) return `the pool gives its nodes no label ${key}`;
  const isThere = open === "any" || here.some((domain) => open.includes(domain));
  return isThere ? "no instance type of the pool that would hold the pod is available there" : `${confines} ${listed(here)}`;
}

/** Why an existing node refuses a pod, topology left aside. */
function refusal({ node, room }: NodeState, podData: PodData, axis: ResourceAxis): string {
  const { requests } = podData.class;
  const short = Object.keys(requests)
    .sort()
    .filter((name) => (requests[name] ?? 0) > (room[axis.placeOf(name)] ?? 0));
  if (short.length > 0) {
    const left = short.map((name) => `${name} ${amountText(Math.max(0, room[axis.placeOf(name)] ?? 0), name)}`);
    return `has only ${listed(left)} left`;
  }
  if (node.overcommitted) return "has more requested of it than it holds";
  const taint = untolerated(node.view.taints, podData.tolerations);
  if (taint !== undefined) return `has the taint ${describeTaint(taint)}`;
  const port = takenPort(podData.class.ports, node.ports);
  if (port !== undefined) return `has port ${port.port} taken`;
  return "does not suit the pod otherwise";
}
