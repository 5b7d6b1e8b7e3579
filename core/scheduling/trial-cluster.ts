import { ownValue } from "../lib/own-value.ts";
import { HOSTNAME } from "../model/labels.ts";
import type { Pod } from "../model/pod.ts";
import { Evaluation } from "./claims/evaluation.ts";
import { Limits } from "./claims/limits.ts";
import { type ClaimMaker, type ClaimWithPod, costOf, newClaimFor } from "./claims/new-claim.ts";
import type { PlannedClaim } from "./claims/planned-claim.ts";
import { Reservations } from "./claims/reservations.ts";
import { attachesBeside, suitsNode } from "./problem/existing-node.ts";
import type { PodData } from "./problem/pod-class.ts";
import type { SchedulingProblem } from "./problem/problem.ts";
import { byRank, type Template } from "./problem/template.ts";
import { TopologyState } from "./problem/topology-state.ts";
import { type HostPort, takenPort } from "./rules/host-ports.ts";
import { filterAdmitsNode } from "./rules/topology-group.ts";
import { hasRoom } from "./tables/resource-axis.ts";

/** A pod and its relaxation steps, strictest first. */
interface PlacedPod {
  readonly pod: Pod;
  readonly relaxations: readonly PodData[];
}

/** The cost of removing nodes: what their pods would need besides the room of other nodes. */
interface Removal {
  /** Pods that no other node takes and no pool can launch a node for. */
  readonly unplaced: readonly Pod[];
  /** Number of new nodes, filled greedily one pod after another. */
  readonly newNodes: number;
  /** What the new nodes cost, USD per hour: instances, volumes, overhead and surplus credits. */
  readonly cost: number;
  /** USD per hour of their instances alone, each as its cheapest type, surplus credits included. */
  readonly price: number;
}

/** Takes one change back; changes are taken back in reverse order. */
type Undo = () => void;

/**
 * A cluster on trial: consolidation removes nodes from it, and their pods go to other nodes by the rules of a plan. The
 * cluster is laid out once, and every change can be reverted to a checkpoint, as in cluster-autoscaler's snapshot
 * (autoscaler: cluster-autoscaler/simulator/clustersnapshot/store/delta.go, DeltaSnapshotStore.Fork). A question
 * therefore costs what it touches, not the size of the cluster.
 *
 * The answers are estimates: new nodes use up no limits and no reservations, and no pod waits for another that it has
 * affinity for. `solve` must confirm every removal that a trial cluster suggests.
 *
 *     const checkpoint = trial.checkpoint;
 *     if (trial.tryEmpty("n1") && trial.tryEmpty("n2")) removable.push("n1", "n2");
 *     else trial.revertTo(checkpoint);
 *     trial.costOfRemoving(["n3"]); // { unplaced: [], newNodes: 1, cost: 0.12, price: 0.1 }, and nothing changes
 */
export class TrialCluster {
  readonly #problem: SchedulingProblem;
  readonly #topology: TopologyState;
  readonly #evaluation: Evaluation;
  readonly #maker: ClaimMaker;
  /** Pools by rank, the heaviest first. */
  readonly #ranks: readonly (readonly Template[])[];
  readonly #width: number;
  /** Rows of `#width` amounts by node: room left, in milli-units. */
  readonly #rooms: Float64Array;
  readonly #ports: (readonly HostPort[])[];
  readonly #volumes: Map<string, ReadonlySet<string>>[];
  readonly #placedPods: PlacedPod[][];
  /** By node: 1 when it was removed. */
  readonly #isRemoved: Uint8Array;
  /** By node: 1 when pods may be moved there. */
  readonly #isOpen: Uint8Array;
  readonly #indexOf: ReadonlyMap<string, number>;
  /** Indexes of nodes in the order in which pods try them. */
  #order: Int32Array;
  /** By text of the parts that matter, and by PodData.id: which nodes suit by labels and taints. */
  readonly #suits = new Map<string, Uint8Array>();
  readonly #suitsOf: (Uint8Array | undefined)[] = [];
  /** By the rows of `#suits` that they combine. */
  readonly #suiting = new Map<string, (name: string) => boolean>();
  readonly #rowIds = new Map<Uint8Array | undefined, number>();
  /** By pod: what it asks for without its preferences. */
  readonly #leastStrict = new Map<Pod, PodData>();
  #journal: Undo[] = [];

  /**
   * `podsByNode`: names of the nodes that may be removed, with those of their pods that would have to move. The
   * problem's pods include them; its other pods are pending and take room if a node has some. `closed`: names of nodes
   * that no pod moves to.
   */
  constructor(problem: SchedulingProblem, podsByNode: ReadonlyMap<string, readonly Pod[]>, closed: ReadonlySet<string>) {
    this.#problem = problem;
    this.#width = problem.axis.names.length;
    this.#topology = new TopologyState(problem.groups, { keepsJournal: true });
    this.#ranks = byRank(problem.templates);
    const limits = new Limits(problem.templates, "nothing");
    this.#evaluation = new Evaluation(problem, this.#topology, new Reservations(problem.reservations), limits, 0);
    this.#maker = { evaluation: this.#evaluation, limits, width: this.#width };
    const { nodes } = problem;
    this.#rooms = new Float64Array(nodes.length * this.#width);
    nodes.forEach(({ room }, n) => {
      this.#rooms.set(room, n * this.#width);
    });
    this.#ports = nodes.map(({ ports }) => ports);
    this.#volumes = nodes.map(({ volumes }) => new Map(volumes));
    this.#placedPods = nodes.map(() => []);
    this.#isRemoved = new Uint8Array(nodes.length);
    this.#isOpen = Uint8Array.from(nodes, ({ view, overcommitted }) => (overcommitted || closed.has(view.name) ? 0 : 1));
    this.#indexOf = new Map(nodes.map(({ view }, n) => [view.name, n]));
    this.#order = Int32Array.from(nodes, (_, n) => n);
    this.#placePods(podsByNode);
    this.#journal = [];
  }

  /** Puts each pod on the node where it runs, then pending pods where there is room. */
  #placePods(podsByNode: ReadonlyMap<string, readonly Pod[]>): void {
    const nodeOf = new Map([...podsByNode].flatMap(([name, pods]) => pods.map((pod) => [pod, this.#indexOf.get(name)] as const)));
    const waiting: PlacedPod[] = [];
    this.#problem.classes.forEach(({ pods, index }) => {
      const relaxations = (this.#problem.relaxations[index] ?? []).filter(({ contradiction }) => contradiction === undefined);
      const leastStrict = relaxations.at(-1);
      for (const pod of pods) {
        if (leastStrict !== undefined) this.#leastStrict.set(pod, leastStrict);
        const node = nodeOf.get(pod);
        const [podData] = this.#problem.relaxations[index] ?? [];
        if (node !== undefined && podData !== undefined) this.#put(node, { pod, relaxations }, podData);
        else if (node === undefined) waiting.push({ pod, relaxations });
      }
    });
    for (const placedPod of waiting) this.#place(placedPod);
  }

  /**
   * Says by a node's name whether it suits each of the pods by labels and taints, and accepts pods; preferences, room
   * and topology do not matter. Pods that ask for the same have the same function, and so need room once.
   */
  nodesSuiting(pods: readonly Pod[]): (name: string) => boolean {
    const rows = [...new Set(pods.map((pod) => this.#leastStrict.get(pod)).map((podData) => podData && this.#suitsFor(podData)))];
    const text = rows
      .map((row) => this.#rowId(row))
      .sort((a, b) => a - b)
      .join(" ");
    const known = this.#suiting.get(text);
    if (known !== undefined) return known;
    const suits = Uint8Array.from(this.#problem.nodes, (_, n) => (rows.every((row) => row?.[n] === 1) ? 1 : 0));
    const suiting = (name: string): boolean => suits[this.#indexOf.get(name) ?? -1] === 1;
    this.#suiting.set(text, suiting);
    return suiting;
  }

  #rowId(row: Uint8Array | undefined): number {
    const id = this.#rowIds.get(row) ?? this.#rowIds.size;
    this.#rowIds.set(row, id);
    return id;
  }

  /** Makes pods try the named nodes first, in this order. */
  preferNodes(names: readonly string[]): void {
    const first = names.flatMap((name) => this.#indexOf.get(name) ?? []);
    const named = new Set(first);
    this.#order = Int32Array.from([...first, ...this.#problem.nodes.flatMap((_, n) => (named.has(n) ? [] : [n]))]);
  }

  /** Removes a node if the other nodes take all of its pods; otherwise returns false and changes nothing. */
  tryEmpty(name: string): boolean {
    const node = this.#indexOf.get(name);
    if (node === undefined) return false;
    const checkpoint = this.checkpoint;
    for (const placedPod of this.#remove(node)) {
      if (this.#place(placedPod)) continue;
      this.revertTo(checkpoint);
      return false;
    }
    return true;
  }

  /**
   * Removes several nodes at once if the others take all of their pods, the largest first; otherwise returns false and
   * changes nothing.
   */
  tryEmptyTogether(names: readonly string[]): boolean {
    const checkpoint = this.checkpoint;
    if (this.#removeAll(names).every((placedPod) => this.#place(placedPod))) return true;
    this.revertTo(checkpoint);
    return false;
  }

  /** The cost of removing some nodes at once. Changes nothing. */
  costOfRemoving(names: readonly string[]): Removal {
    const checkpoint = this.checkpoint;
    const unplaced: Pod[] = [];
    const claims: PlannedClaim[] = [];
    for (const placedPod of this.#removeAll(names)) {
      if (!this.#place(placedPod) && !this.#placeOnNewNode(placedPod, claims)) unplaced.push(placedPod.pod);
    }
    this.revertTo(checkpoint);
    return {
      unplaced,
      newNodes: claims.length,
      cost: claims.reduce((sum, { price, template }) => sum + price + template.costs.perNode, 0),
      price: claims.reduce((sum, { price }) => sum + price, 0),
    };
  }

  /** The present state, for `revertTo`. */
  get checkpoint(): readonly [steps: number, topology: number] {
    return [this.#journal.length, this.#topology.checkpoint];
  }

  /** Takes back every change since a checkpoint. Checkpoints taken after it are void. */
  revertTo([steps, topology]: readonly [steps: number, topology: number]): void {
    while (this.#journal.length > steps) this.#journal.pop()?.();
    this.#topology.revertTo(topology);
  }

  /** Removes nodes; returns their pods, largest first. */
  #removeAll(names: readonly string[]): readonly PlacedPod[] {
    const placedPods = names.flatMap((name) => {
      const node = this.#indexOf.get(name);
      return node === undefined ? [] : this.#remove(node);
    });
    return names.length === 1
      ? placedPods
      : placedPods.sort((a, b) => (a.relaxations[0]?.class.index ?? 0) - (b.relaxations[0]?.class.index ?? 0));
  }

  /** Removes a node unless that was done already; returns its pods, largest first. */
  #remove(node: number): readonly PlacedPod[] {
    // Reverting a second removal would bring the node back although the first removal still holds.
    if (this.#isRemoved[node] === 1) return [];
    const placedPods = this.#placedPods[node] ?? [];
    this.#isRemoved[node] = 1;
    this.#placedPods[node] = [];
    this.#journal.push(() => {
      this.#isRemoved[node] = 0;
      this.#placedPods[node] = placedPods;
    });
    for (const { relaxations } of placedPods) if (relaxations[0] !== undefined) this.#count(node, relaxations[0], -1);
    return placedPods;
  }

  /**
   * Puts a pod on the first node that takes it. A preference is relaxed only if a new node could not meet it either,
   * because a plan would launch that node.
   */
  #place(placedPod: PlacedPod): boolean {
    for (const podData of placedPod.relaxations) {
      const node = this.#nodeFor(podData, placedPod.pod);
      if (node >= 0) {
        this.#put(node, placedPod, podData);
        return true;
      }
      if (placedPod.relaxations.length > 1 && this.#newClaim(this.#problem.templates, podData, 0) !== undefined) return false;
    }
    return false;
  }

  /** Index of the first node that takes the pod; -1 without one. */
  #nodeFor(podData: PodData, pod: Pod): number {
    const suits = this.#suitsFor(podData);
    const rooms = this.#rooms;
    const width = this.#width;
    for (let i = 0; i < this.#order.length; i++) {
      const n = this.#order[i] ?? 0;
      if (suits[n] !== 1 || this.#isRemoved[n] === 1 || !hasRoom(rooms, n * width, podData.vector)) continue;
      if (podData.class.ports.length > 0 && takenPort(podData.class.ports, this.#ports[n] ?? []) !== undefined) continue;
      if (podData.class.attaches !== undefined && !this.#attaches(n, podData, pod)) continue;
      if (podData.hasTopology && !this.#allowsTopology(n, podData)) continue;
      return n;
    }
    return -1;
  }

  /** By node: 1 when it is open and suits the pod by labels and taints. Remembered for pods that ask for the same. */
  #suitsFor(podData: PodData): Uint8Array {
    const known = this.#suitsOf[podData.id];
    if (known !== undefined) return known;
    const { set, tolerations, requirements, class: podClass } = podData;
    const host = requirements.get(HOSTNAME);
    const text = `${set.id} ${JSON.stringify(tolerations)} ${host === undefined ? "" : JSON.stringify([...host.values])}${host?.complement ?? ""} ${
      podClass.volumeAlternatives.length > 0 ? podClass.index : ""
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
    return key === HOSTNAME ? view?.hostname : ownValue(view?.labels, key);
  }

  #allowsTopology(node: number, podData: PodData): boolean {
    return podData.deciding.every((group) => this.#topology.allows(group, podData, this.#domainOf(node, group.key)));
  }

  /** Adds a number of pods, or subtracts it, in the topology groups that count them on the node. */
  #count(node: number, podData: PodData, pods: number): void {
    const view = this.#problem.nodes[node]?.view;
    for (const group of view === undefined ? [] : podData.counting) {
      const domain = this.#domainOf(node, group.key);
      if (domain !== undefined && view !== undefined && filterAdmitsNode(group.filter, view.labels, view.taints))
        this.#topology.add(group, domain, pods);
    }
  }

  /** Puts a pod on a node: room, ports, volumes and topology counts, each with its undo. */
  #put(node: number, placedPod: PlacedPod, podData: PodData): void {
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

  /**
   * Puts a pod on a new node, of the heaviest pools that can take it: one of `claims` if that adds less to the price
   * than another new node, which joins `claims`.
   */
  #placeOnNewNode({ pod, relaxations }: PlacedPod, claims: PlannedClaim[]): boolean {
    for (const podData of relaxations) {
      for (const templates of this.#ranks) {
        let best: ClaimWithPod | undefined;
        let lowest = Number.POSITIVE_INFINITY;
        for (const claim of claims) {
          if (claim.template.rank !== templates[0]?.rank) continue;
          const outcome = this.#evaluation.evaluate(claim, podData);
          if (typeof outcome !== "object" || outcome.price - claim.price >= lowest) continue;
          [best, lowest] = [{ claim, outcome }, outcome.price - claim.price];
        }
        const opened = this.#newClaim(templates, podData, claims.length);
        if (opened !== undefined && costOf(opened) < lowest) best = opened;
        if (best === undefined) continue;
        const { claim, outcome } = best;
        if (best === opened) claims.push(claim);
        claim.price = outcome.price;
        claim.take(podData, pod, outcome.set, this.#topology);
        this.#evaluation.settle(claim);
        return true;
      }
    }
    return false;
  }

  #newClaim(templates: readonly Template[], podData: PodData, index: number): ClaimWithPod | undefined {
    const opened = newClaimFor(podData, templates, index, this.#maker);
    return opened === "reserved" ? undefined : opened;
  }
}
