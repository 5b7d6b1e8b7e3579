import { HOSTNAME } from "../model/labels.ts";
import type { Pod } from "../model/pod.ts";
import { Evaluation } from "./claims/evaluation.ts";
import { Limits } from "./claims/limits.ts";
import type { Outcome } from "./claims/outcome.ts";
import { PlannedClaim } from "./claims/planned-claim.ts";
import { Reservations } from "./claims/reservations.ts";
import { attachesBeside, suitsNode } from "./problem/existing-node.ts";
import type { Ask } from "./problem/pod-class.ts";
import type { World } from "./problem/problem.ts";
import { TopologyState } from "./problem/topology-state.ts";
import { type HostPort, takenPort } from "./rules/host-ports.ts";
import { filterAdmitsNode } from "./rules/topology-group.ts";
import { isEmpty } from "./tables/bitset.ts";
import { hasRoom } from "./tables/resource-axis.ts";

/** A pod with what it asks for at each step of relaxation. */
interface Tenant {
  readonly pod: Pod;
  readonly asks: readonly Ask[];
}

/** What it would take to empty a node. */
export interface Removal {
  /** Pods that no node has room for, nor any pool a new one. */
  readonly homeless: readonly Pod[];
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
export class Rearrangement {
  readonly #world: World;
  readonly #topology: TopologyState;
  readonly #evaluation: Evaluation;
  readonly #limits: Limits;
  readonly #width: number;
  /** By node, a row of what room is left. */
  readonly #rooms: Float64Array;
  readonly #ports: (readonly HostPort[])[];
  readonly #volumes: Map<string, ReadonlySet<string>>[];
  readonly #tenants: Tenant[][];
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
  constructor(world: World, homes: ReadonlyMap<string, readonly Pod[]>, closed: ReadonlySet<string>) {
    this.#world = world;
    this.#width = world.axis.names.length;
    this.#topology = new TopologyState(world.groups, true);
    this.#evaluation = new Evaluation(world, this.#topology, new Reservations(world.reservations), 0);
    this.#limits = new Limits(world.templates);
    const { nodes } = world;
    this.#rooms = new Float64Array(nodes.length * this.#width);
    nodes.forEach(({ room }, n) => {
      this.#rooms.set(room, n * this.#width);
    });
    this.#ports = nodes.map(({ ports }) => ports);
    this.#volumes = nodes.map(({ volumes }) => new Map(volumes));
    this.#tenants = nodes.map(() => []);
    this.#isGone = new Uint8Array(nodes.length);
    this.#isOpen = Uint8Array.from(nodes, ({ view, overcommitted }) => (overcommitted || closed.has(view.name) ? 0 : 1));
    this.#indexOf = new Map(nodes.map(({ view }, n) => [view.name, n]));
    this.#order = Int32Array.from(nodes, (_, n) => n);
    this.#settleIn(homes);
    this.#journal = [];
  }

  #settleIn(homes: ReadonlyMap<string, readonly Pod[]>): void {
    const homeOf = new Map([...homes].flatMap(([name, pods]) => pods.map((pod) => [pod, this.#indexOf.get(name)] as const)));
    const waiting: Tenant[] = [];
    this.#world.classes.forEach(({ pods, index }) => {
      const asks = (this.#world.asks[index] ?? []).filter(({ contradiction }) => contradiction === undefined);
      for (const pod of pods) {
        const home = homeOf.get(pod);
        const [ask] = this.#world.asks[index] ?? [];
        if (home !== undefined && ask !== undefined) this.#take(home, { pod, asks }, ask);
        else if (home === undefined) waiting.push({ pod, asks });
      }
    });
    for (const tenant of waiting) this.#place(tenant);
  }

  /** Offers nodes to pods in this order; nodes that are not named come last. */
  offerFirst(names: readonly string[]): void {
    const first = names.flatMap((name) => this.#indexOf.get(name) ?? []);
    const named = new Set(first);
    this.#order = Int32Array.from([...first, ...this.#world.nodes.flatMap((_, n) => (named.has(n) ? [] : [n]))]);
  }

  /** Takes a node away if nodes that stay take all of its pods; false, with nothing changed, if they do not. */
  empty(name: string): boolean {
    const node = this.#indexOf.get(name);
    if (node === undefined) return false;
    const mark = this.mark;
    for (const tenant of this.#leave(node)) {
      if (this.#place(tenant)) continue;
      this.backTo(mark);
      return false;
    }
    return true;
  }

  /** Takes some nodes away at once and gives all their pods places, the largest first; false, with nothing changed, if one finds none. */
  emptyTogether(names: readonly string[]): boolean {
    const mark = this.mark;
    if (this.#leaveAll(names).every((tenant) => this.#place(tenant))) return true;
    this.backTo(mark);
    return false;
  }

  /** What it would take to do without some nodes. Nothing changes. */
  without(names: readonly string[]): Removal {
    const mark = this.mark;
    const homeless: Pod[] = [];
    const claims: PlannedClaim[] = [];
    for (const tenant of this.#leaveAll(names)) {
      if (!this.#place(tenant) && !this.#buy(tenant, claims)) homeless.push(tenant.pod);
    }
    this.backTo(mark);
    return { homeless, newNodes: claims.length, price: claims.reduce((sum, { price }) => sum + price, 0) };
  }

  /** Where the rearrangement stands, to be given to `backTo`. */
  get mark(): readonly [steps: number, topology: number] {
    return [this.#journal.length, this.#topology.mark];
  }

  backTo([steps, topology]: readonly [steps: number, topology: number]): void {
    while (this.#journal.length > steps) this.#journal.pop()?.();
    this.#topology.backTo(topology);
  }

  /** The nodes go; their pods, largest first, are without a place. */
  #leaveAll(names: readonly string[]): readonly Tenant[] {
    const tenants = names.flatMap((name) => {
      const node = this.#indexOf.get(name);
      return node === undefined ? [] : this.#leave(node);
    });
    return names.length === 1 ? tenants : tenants.sort((a, b) => (a.asks[0]?.class.index ?? 0) - (b.asks[0]?.class.index ?? 0));
  }

  /** The node goes, unless it is gone already; its pods, largest first, are without a place. */
  #leave(node: number): readonly Tenant[] {
    // Taken back, a second going would bring it back from the first.
    if (this.#isGone[node] === 1) return [];
    const tenants = this.#tenants[node] ?? [];
    this.#isGone[node] = 1;
    this.#tenants[node] = [];
    this.#journal.push(() => {
      this.#isGone[node] = 0;
      this.#tenants[node] = tenants;
    });
    for (const { asks } of tenants) if (asks[0] !== undefined) this.#count(node, asks[0], -1);
    return tenants;
  }

  /** On the first node that takes it; a wish is given up only where a new node could not fulfil it either. */
  #place(tenant: Tenant): boolean {
    for (const ask of tenant.asks) {
      const node = this.#nodeFor(ask, tenant.pod);
      if (node >= 0) {
        this.#take(node, tenant, ask);
        return true;
      }
      if (tenant.asks.length > 1 && this.#fresh(ask, 0) !== undefined) return false;
    }
    return false;
  }

  #nodeFor(ask: Ask, pod: Pod): number {
    const suits = this.#suitsFor(ask);
    const rooms = this.#rooms;
    const width = this.#width;
    for (let i = 0; i < this.#order.length; i++) {
      const n = this.#order[i] ?? 0;
      if (suits[n] !== 1 || this.#isGone[n] === 1 || !hasRoom(rooms, n * width, ask.vector)) continue;
      if (ask.class.ports.length > 0 && takenPort(ask.class.ports, this.#ports[n] ?? []) !== undefined) continue;
      if (ask.class.attaches !== undefined && !this.#attaches(n, ask, pod)) continue;
      if (ask.hasTopology && !this.#isLawful(n, ask)) continue;
      return n;
    }
    return -1;
  }

  #suitsFor(ask: Ask): Uint8Array {
    const known = this.#suitsOf[ask.id];
    if (known !== undefined) return known;
    const { set, tolerations, requirements, volumeSets, class: podClass } = ask;
    const host = requirements.get(HOSTNAME);
    const text = `${set.id} ${JSON.stringify(tolerations)} ${host === undefined ? "" : JSON.stringify([...host.values])}${host?.complement ?? ""} ${
      volumeSets.length > 0 ? podClass.index : ""
    }`;
    const suits =
      this.#suits.get(text) ??
      Uint8Array.from(this.#world.nodes, (node, n) => (this.#isOpen[n] === 1 && suitsNode(ask, node.view) ? 1 : 0));
    this.#suits.set(text, suits);
    this.#suitsOf[ask.id] = suits;
    return suits;
  }

  #attaches(n: number, ask: Ask, pod: Pod): boolean {
    const node = this.#world.nodes[n];
    return node !== undefined && attachesBeside(ask, pod, node, this.#volumes[n]);
  }

  #domainOf(node: number, key: string): string | undefined {
    const view = this.#world.nodes[node]?.view;
    return key === HOSTNAME ? view?.hostname : view?.labels[key];
  }

  #isLawful(node: number, ask: Ask): boolean {
    return ask.deciding.every((group) => this.#topology.allows(group, ask, this.#domainOf(node, group.key)));
  }

  #count(node: number, ask: Ask, pods: number): void {
    const view = this.#world.nodes[node]?.view;
    for (const group of view === undefined ? [] : ask.counting) {
      const domain = this.#domainOf(node, group.key);
      if (domain !== undefined && view !== undefined && filterAdmitsNode(group.filter, view.labels, view.taints))
        this.#topology.add(group, domain, pods);
    }
  }

  #take(node: number, tenant: Tenant, ask: Ask): void {
    const { vector } = ask;
    const rooms = this.#rooms;
    const at = node * this.#width;
    const tenants = this.#tenants[node] ?? [];
    for (let r = 0; r < vector.length; r++) rooms[at + r] = (rooms[at + r] ?? 0) - (vector[r] ?? 0);
    tenants.push(tenant);
    this.#journal.push(() => {
      for (let r = 0; r < vector.length; r++) rooms[at + r] = (rooms[at + r] ?? 0) + (vector[r] ?? 0);
      tenants.pop();
    });
    if (ask.class.ports.length > 0) {
      const before = this.#ports[node] ?? [];
      this.#ports[node] = [...before, ...ask.class.ports];
      this.#journal.push(() => {
        this.#ports[node] = before;
      });
    }
    const attached = this.#volumes[node];
    for (const [driver, claims] of attached === undefined ? [] : (ask.class.attaches?.(tenant.pod) ?? [])) {
      const before = attached?.get(driver) ?? new Set<string>();
      attached?.set(driver, new Set([...before, ...claims]));
      this.#journal.push(() => attached?.set(driver, before));
    }
    this.#count(node, ask, 1);
  }

  /** On a new node that was opened for a neighbour if that costs less than another one. */
  #buy({ pod, asks }: Tenant, claims: PlannedClaim[]): boolean {
    for (const ask of asks) {
      let best: { readonly claim: PlannedClaim; readonly outcome: Outcome } | undefined;
      let least = Number.POSITIVE_INFINITY;
      for (const claim of claims) {
        const outcome = this.#evaluation.evaluate(claim, ask);
        if (typeof outcome !== "object" || outcome.price - claim.price >= least) continue;
        [best, least] = [{ claim, outcome }, outcome.price - claim.price];
      }
      const fresh = this.#fresh(ask, claims.length);
      if (fresh !== undefined && fresh.outcome.price + this.#world.nodeHour < least) best = fresh;
      if (best === undefined) continue;
      const { claim, outcome } = best;
      if (best === fresh) claims.push(claim);
      claim.price = outcome.price;
      claim.take(ask, pod, outcome.set, this.#topology);
      this.#evaluation.settle(claim);
      return true;
    }
    return false;
  }

  #fresh(ask: Ask, index: number): { readonly claim: PlannedClaim; readonly outcome: Outcome } | undefined {
    for (const template of this.#world.templates) {
      const types = this.#limits.typesWithin(template);
      if (isEmpty(types)) continue;
      const claim = new PlannedClaim(index, template, types, this.#width);
      const outcome = this.#evaluation.evaluate(claim, ask);
      if (typeof outcome === "object") return { claim, outcome };
    }
    return undefined;
  }
}
