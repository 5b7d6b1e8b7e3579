import { conditionOf, fromRfc3339 } from "../../model/conditions.ts";
import type { KubernetesObject } from "../../model/kubernetes.ts";
import { INSTANCE_TYPE, ZONE } from "../../model/labels.ts";
import type { Node } from "../../model/node.ts";
import { isIntended, type NodeClaim } from "../../model/node-claim.ts";
import { earlier } from "./earlier.ts";
import { capacityTypeOf, groupOf } from "./owners.ts";
import { type TraceEntry, uidOf } from "./trace.ts";

/** USD per hour of an offering; undefined when it is not known. */
export type PriceOf = (instanceType: string, zone: string, capacityType: string) => number | undefined;

/** What the nodes of a cluster cost. */
export interface MachineFigures {
  /** USD of all nodes of NodePools, or of the node groups of Cluster Autoscaler. */
  readonly dollars: number;
  readonly byNodePool: ReadonlyMap<string, number>;
  /** Nodes whose price is not known, by name. */
  readonly unpriced: readonly string[];
  readonly machines: { readonly mean: number; readonly most: number; readonly bought: number };
}

interface Machine {
  readonly name: string;
  readonly nodePool: string;
  readonly from: number;
  to: number | undefined;
  readonly price: number | undefined;
}

/** The nodes of NodePools, from their launch until they are gone. */
export class Machines {
  readonly #priceOf: PriceOf;
  readonly #autoscaler: string;
  /** By provider id. */
  readonly #machines = new Map<string, Machine>();
  /** The provider ids of objects, by uid. */
  readonly #ids = new Map<string, string>();
  /** How many objects show a machine. */
  readonly #shown = new Map<string, number>();

  constructor(priceOf: PriceOf, autoscaler: string) {
    this.#priceOf = priceOf;
    this.#autoscaler = autoscaler;
  }

  take({ at, put = {}, gone = [] }: TraceEntry): void {
    for (const claim of (put.NodeClaim ?? []) as readonly NodeClaim[]) {
      const id = claim.status?.providerID;
      if (id !== undefined && id !== "" && !isIntended(claim)) this.#show(uidOf("NodeClaim", claim), id, claim, launchedAt(claim, at));
    }
    for (const node of (put.Node ?? []) as readonly Node[])
      this.#show(uidOf("Node", node), node.spec.providerID ?? node.metadata.name, node, createdAt(node, at));
    for (const uid of gone) {
      const id = this.#ids.get(uid);
      if (id === undefined) continue;
      this.#ids.delete(uid);
      const left = (this.#shown.get(id) ?? 1) - 1;
      this.#shown.set(id, left);
      const machine = this.#machines.get(id);
      if (left === 0 && machine) machine.to = at;
    }
  }

  figures(from: number, end: number): MachineFigures {
    const byNodePool = new Map<string, number>();
    let ms = 0;
    const steps: (readonly [at: number, change: number])[] = [];
    const seen = [...this.#machines.values()].filter(({ to }) => to === undefined || to > from);
    for (const { nodePool, price = 0, from: launched, to = end } of seen) {
      const start = Math.max(from, launched);
      const lasted = Math.max(0, to - start);
      ms += lasted;
      byNodePool.set(nodePool, (byNodePool.get(nodePool) ?? 0) + (price * lasted) / 3_600_000);
      steps.push([start, 1], [to, -1]);
    }
    let [now, most] = [0, 0];
    for (const [, change] of steps.sort(([a, x], [b, y]) => a - b || x - y)) {
      now += change;
      most = Math.max(most, now);
    }
    return {
      dollars: [...byNodePool.values()].reduce((sum, usd) => sum + usd, 0),
      byNodePool,
      unpriced: seen.filter(({ price }) => price === undefined).map(({ name }) => name),
      machines: {
        mean: end === from ? seen.length : ms / (end - from),
        most,
        bought: seen.filter(({ from: launched }) => launched > from).length,
      },
    };
  }

  #show(uid: string, id: string, object: KubernetesObject, from: number): void {
    const nodePool = groupOf(object, this.#autoscaler);
    if (nodePool === undefined) return;
    if (!this.#ids.has(uid)) {
      this.#ids.set(uid, id);
      this.#shown.set(id, (this.#shown.get(id) ?? 0) + 1);
    }
    const { [INSTANCE_TYPE]: type, [ZONE]: zone = "" } = object.metadata.labels ?? {};
    if (this.#machines.has(id) || type === undefined) return;
    const price = this.#priceOf(type, zone, capacityTypeOf(object));
    this.#machines.set(id, { name: object.metadata.name, nodePool, from, to: undefined, price });
  }
}

/** A claim that was recorded before its launch shows the launch in its condition. */
const launchedAt = (claim: NodeClaim, at: number): number =>
  earlier(fromRfc3339(conditionOf(claim.status?.conditions, "Launched")?.lastTransitionTime), createdAt(claim, at));

const createdAt = ({ metadata }: KubernetesObject, at: number): number => earlier(fromRfc3339(metadata.creationTimestamp), at);
