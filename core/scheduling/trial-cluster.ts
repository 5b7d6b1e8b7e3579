import { HOSTNAME } from "../model/labels.ts";
import type { Pod } from "../model/pod.ts";
import { Evaluation } from "./claims/evaluation.ts";
import { Limits } from "./claims/limits.ts";
import type { Outcome } from "./claims/outcome.ts";
import { PlannedClaim } from "./claims/planned-claim.ts";
import { Reservations } from "./claims/reservations.ts";
import { attachesBeside, suitsNode } from "./problem/existing-node.ts";
import type { PodData } from "./problem/pod-class.ts";
import type { SchedulingProblem } from "./problem/problem.ts";
import { TopologyState } from "./problem/topology-state.ts";
import { type HostPort, takenPort } from "./rules/host-ports.ts";
import { filterAdmitsNode } from "./rules/topology-group.ts";
import { isEmpty } from "./tables/bitset.ts";
import { hasRoom } from "./tables/resource-axis.ts";

/** A pod with what it asks for at each step of relaxation. */
interface PlacedPod {
  readonly pod: Pod;
  readonly relaxations: readonly PodData[];
}

/** What it would take to empty a node. */
export interface Removal {
  /** Pods that no node has room for, nor any pool a new one. */
  readonly unplaced: readonly Pod[];
  /** New nodes, filled one pod after another. */
  readonly newNodes: number;
  /** USD per hour of the new nodes, each as its cheapest type. */
  readonly price: number;
}

/** What a step has changed, to be taken back from the last to the first. */
type Undo = () => void;

/**
 * A cluster that is rearranged in thought: nodes are taken away one after another, and their pods go elsewhere by the same rules as in a plan. It is
 * laid out once, and every step can be taken back, so a question costs what it touches and not what the cluster is large. It is a sketch all the
 * same (what new nodes take of limits and reservations, and pods that wait for company, are left out): what it proposes must be tried by `solve`.
 */
export class TrialCluster {
  readonly #problem: SchedulingProblem;
  readonly #topology: TopologyState;
  readonly #evaluation: Evaluation;
  readonly #limits: Limits;
  readonly #width: number;
  /** By node, a row of what room is left. */
  readonly #rooms: Float64Array;
  readonly #ports: (readonly HostPort[])[];
  readonly #volumes: Map<string, ReadonlySet<string>>[];
  readonly #placedPods: PlacedPod[][];
  readonly #isGone: Uint8Array;
  readonly #isOpen: Uint8Array;
  readonly #indexOf: ReadonlyMap<string, number>;
  /** Nodes in the order in which they are offered to pods. */
  #order: Int32Array;
  /** What labels and taints alone admit of a node, by ask. */
  readonly #suits = new Map<string, Uint8Array>();
  readonly #suitsOf: (Uint8Array | undefined)[] = [];
  #journal: Undo[] = [];

  /**
   * `homes`: the nodes that may go, with the pods of theirs that would have to move; all of these are among the world's pods. The world's other pods
   * are given a place if a node has one. `closed`: names of nodes that nothing may be moved to.
   */
  constructor(problem: SchedulingProblem, podsByNode: ReadonlyMap<string, readonly Pod[]>, closed: ReadonlySet<string>) {
    this.#problem = problem;
    this.#width = problem.axis.names.length;
    this.#topology = new TopologyState(problem.groups, true);
    this.#evaluation = new Evaluation(problem, this.#topology, new Reservations(problem.reservations), 0);
    this.#limits = new Limits(problem.templates);
    const { nodes } = problem;
    this.#rooms = new Float64Array(nodes.length * this.#width);
    nodes.forEach(({ room }, n) => {
      this.#rooms.set(room, n * this.#width);
    });
    this.#ports = nodes.map(({ ports }) => ports);
    this.#volumes = nodes.map(({ volumes }) => new Map(volumes));
    this.#placedPods = nodes.map(() => []);
    this.#isGone = new Uint8Array(nodes.length);
    this.#isOpen = Uint8Array.from(nodes, ({ view, overcommitted }) => (overcommitted || closed.has(view.name) ? 0 : 1));
    this.#indexOf = new Map(nodes.map(({ view }, n) => [view.name, n]));
    this.#order = Int32Array.from(nodes, (_, n) => n);
    this.#settleIn(podsByNode);
    this.#journal = [];
  }

  #settleIn(podsByNode: ReadonlyMap<string, readonly Pod[]>): void {
    const nodeOf = new Map([...podsByNode].flatMap(([name, pods]) => pods.map((pod) => [pod, this.#indexOf.get(name)] as const)));
    const waiting: PlacedPod[] = [];
    this.#problem.classes.forEach(({ pods, index }) => {
      const relaxations = (this.#problem.relaxations[index] ?? []).filter(({ contradiction }) => contradiction === undefined);
      for (const pod of pods) {
        const home = nodeOf.get(pod);
        const [podData] = this.#problem.relaxations[index] ?? [];
        if (home !== undefined && podData !== undefined) this.#take(home, { pod, relaxations }, podData);
        else if (home === undefined) waiting.push({ pod, relaxations });
      }
    });
    for (const placedPod of waiting) this.#place(placedPod);
  }

  /** Offers nodes to pods in this order; nodes that are not named come last. */
  preferNodes(names: readonly string[]): void {
    const first = names.flatMap((name) => this.#indexOf.get(name) ?? []);
    const named = new Set(first);
    this.#order = Int32Array.from([...first, ...this.#problem.nodes.flatMap((_, n) => (named.has(n) ? [] : [n]))]);
  }

  /** Takes a node away if nodes that stay take all of its pods; false, with nothing changed, if they do not. */
  tryEmpty(name: string): boolean {
    const node = this.#indexOf.get(name);
    if (node === undefined) return false;
    const checkpoint = this.checkpoint;
    for (const placedPod of this.#leave(node)) {
      if (this.#place(placedPod)) continue;
      this.revertTo(checkpoint);
      return false;
    }
    return true;
  }

  /** Takes some nodes away at once and gives all their pods places, the largest first; false, with nothing changed, if one finds none. */
  tryEmptyTogether(names: readonly string[]): boolean {
    const checkpoint = this.checkpoint;
    if (this.#leaveAll(names).every((placedPod) => this.#place(placedPod))) return true;
    this.revertTo(checkpoint);
    return false;
  }

  /** What it would take to do without some nodes. Nothing changes. */
  costOfRemoving(names: readonly string[]): Removal {
    const checkpoint = this.checkpoint;
    const unplaced: Pod[] = [];
    const claims: PlannedClaim[] = [];
    for (const placedPod of this.#leaveAll(names)) {
      if (!this.#place(placedPod) && !this.#buy(placedPod, claims)) unplaced.push(placedPod.pod);
    }
    this.revertTo(checkpoint);
    return { unplaced, newNodes: claims.length, price: claims.reduce((sum, { price }) => sum + price, 0) };
  }

  /** Where the rearrangement stands, to be given to `backTo`. */
  get checkpoint(): readonly [steps: number, topology: number] {
    return [this.#journal.length, this.#topology.checkpoint];
  }

  revertTo([steps, topology]: readonly [steps: number, topology: number]): void {
    while (this.#journal.length > steps) this.#journal.pop()?.();
    this.#topology.revertTo(topology);
  }

  /** The nodes go; their pods, largest first, are without a place. */
  #leaveAll(names: readonly string[]): readonly PlacedPod[] {
    const placedPods = names.flatMap((name) => {
      const node = this.#indexOf.get(name);
      return node === undefined ? [] : this.#leave(node);
    });
    return names.length === 1
      ? placedPods
      : placedPods.sort((a, b) => (a.relaxations[0]?.class.index ?? 0) - (b.relaxations[0]?.class.index ?? 0));
  }

  /** The node goes, unless it is gone already; its pods, largest first, are without a place. */
  #leave(node: number): readonly PlacedPod[] {
    // Taken back, a second going would bring it back from the first.
    if (this.#isGone[node] === 1) return [];
    const placedPods = this.#placedPods[node] ?? [];
    this.#isGone[node] = 1;
    this.#placedPods[node] = [];
    this.#journal.push(() => {
      this.#isGone[node] = 0;
      this.#placedPods[node] = placedPods;
    });
    for (const { relaxations } of placedPods) if (relaxations[0] !== undefined) this.#count(node, relaxations[0], -1);
    return placedPods;
  }

  /** On the first node that takes it; a wish is given up only where a new node could not fulfil it either. */
  #place(placedPod: PlacedPod): boolean {
    for (const podData of placedPod.relaxations) {
      const node = this.#nodeFor(podData, placedPod.pod);
      if (node >= 0) {
        this.#take(node, placedPod, podData);
        return true;
      }
      if (placedPod.relaxations.length > 1 && this.#fresh(podData, 0) !== undefined) return false;
    }
    return false;
  }

  #nodeFor(podData: PodData, pod: Pod): number {
    const suits = this.#suitsFor(podData);
    const rooms = this.#rooms;
    const width = this.#width;
    for (let i = 0; i < this.#order.length; i++) {
      const n = this.#order[i] ?? 0;
      if (suits[n] !== 1 || this.#isGone[n] === 1 || !hasRoom(rooms, n * width, podData.vector)) continue;
      if (podData.class.ports.length > 0 && takenPort(podData.class.ports, this.#ports[n] ?? []) !== undefined) continue;
      if (podData.class.attaches !== undefined && !this.#attaches(n, podData, pod)) continue;
      if (podData.hasTopology && !this.#isLawful(n, podData)) continue;
      return n;
    }
    return -1;
  }

  #suitsFor(podData: PodData): Uint8Array {
    const known = this.#suitsOf[podData.id];
    if (known !== undefined) return known;
    const { set, tolerations, requirements, volumeSets, class: podClass } = podData;
    const host = requirements.get(HOSTNAME);
    const text = `${set.id} ${JSON.stringify(tolerations)} ${host === undefined ? "" : JSON.stringify([...host.values])}${host?.complement ?? ""} ${
      volumeSets.length > 0 ? podClass.index : ""
    }`;
    const suits =
      this.#suits.get(text) ??
      Uint8Array.from(this.#problem.nodes, (node, n) => (this.#isOpen[n] === 1 && suitsNode(podData, node.view) ? 1 : 0));
    this.#suits.set(text, suits);
    this.#suitsOf[podData.id] = suits;
    return suits;
  }

  #attaches(n: number, podData: PodData, pod: Pod): boolean {
    const node = this.#problem.nodes[n];
    return node !== undefined && attachesBeside(podData, pod, node, this.#volumes[n]);
  }

  #domainOf(node: number, key: string): string | undefined {
    const view = this.#problem.nodes[node]?.view;
    return key === HOSTNAME ? view?.hostname : view?.labels[key];
  }

  #isLawful(node: number, podData: PodData): boolean {
    return podData.deciding.every((group) => this.#topology.allows(group, podData, this.#domainOf(node, group.key)));
  }

  #count(node: number, podData: PodData, pods: number): void {
    const view = this.#problem.nodes[node]?.view;
    for (const group of view === undefined ? [] : podData.counting) {
      const domain = this.#domainOf(node, group.key);
      if (domain !== undefined && view !== undefined && filterAdmitsNode(group.filter, view.labels, view.taints))
        this.#topology.add(group, domain, pods);
    }
  }

  #take(node: number, placedPod: PlacedPod, podData: PodData): void {
    const { vector } = podData;
    const rooms = this.#rooms;
    const at = node * this.#width;
    const placedPods = this.#placedPods[node] ?? [];
    for (let r = 0; r < vector.length; r++) rooms[at + r] = (rooms[at + r] ?? 0) - (vector[r] ?? 0);
    placedPods.push(placedPod);
    this.#journal.push(() => {
      for (let r = 0; r < vector.length; r++) rooms[at + r] = (rooms[at + r] ?? 0) + (vector[r] ?? 0);
      placedPods.pop();
    });
    if (podData.class.ports.length > 0) {
      const before = this.#ports[node] ?? [];
      this.#ports[node] = [...before, ...podData.class.ports];
      this.#journal.push(() => {
        this.#ports[node] = before;
      });
    }
    const attached = this.#volumes[node];
    for (const [driver, claims] of attached === undefined ? [] : (podData.class.attaches?.(placedPod.pod) ?? [])) {
      const before = attached?.get(driver) ?? new Set<string>();
      attached?.set(driver, new Set([...before, ...claims]));
      this.#journal.push(() => attached?.set(driver, before));
    }
    this.#count(node, podData, 1);
  }

  /** On a new node that was opened for a neighbour if that costs less than another one. */
  #buy({ pod, relaxations }: PlacedPod, claims: PlannedClaim[]): boolean {
    for (const podData of relaxations) {
      let best: { readonly claim: PlannedClaim; readonly outcome: Outcome } | undefined;
      let least = Number.POSITIVE_INFINITY;
      for (const claim of claims) {
        const outcome = this.#evaluation.evaluate(claim, podData);
        if (typeof outcome !== "object" || outcome.price - claim.price >= least) continue;
        [best, least] = [{ claim, outcome }, outcome.price - claim.price];
      }
      const fresh = this.#fresh(podData, claims.length);
      if (fresh !== undefined && fresh.outcome.price + this.#problem.nodeHour < least) best = fresh;
      if (best === undefined) continue;
      const { claim, outcome } = best;
      if (best === fresh) claims.push(claim);
      claim.price = outcome.price;
      claim.take(podData, pod, outcome.set, this.#topology);
      this.#evaluation.settle(claim);
      return true;
    }
    return false;
  }

  #fresh(podData: PodData, index: number): { readonly claim: PlannedClaim; readonly outcome: Outcome } | undefined {
    for (const template of this.#problem.templates) {
      const types = this.#limits.typesWithin(template);
      if (isEmpty(types)) continue;
      const claim = new PlannedClaim(index, template, types, this.#width);
      const outcome = this.#evaluation.evaluate(claim, podData);
      if (typeof outcome === "object") return { claim, outcome };
    }
    return undefined;
  }
}
