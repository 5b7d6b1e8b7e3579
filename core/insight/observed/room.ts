import type { ResourceList } from "../../model/kubernetes.ts";
import type { Node } from "../../model/node.ts";
import type { Pod } from "../../model/pod.ts";
import { podRequests } from "../../model/pod-requests.ts";
import { parseResources } from "../../model/quantity.ts";
import { isTerminal } from "../../pods/predicates.ts";
import { groupOf } from "./owners.ts";
import { type TraceEntry, uidOf } from "./trace.ts";

/** Parts of a whole, from 0 to 1. */
export interface Shares {
  readonly cpu: number;
  readonly memory: number;
}

interface Amount {
  readonly cpu: number;
  readonly memory: number;
}

/** What the nodes of NodePools have and what their pods ask for, summed up over time. */
export class Room {
  readonly #autoscaler: string;
  readonly #nodes = new Map<string, { readonly name: string; readonly amount: Amount }>();
  readonly #pods = new Map<string, { readonly node: string; readonly amount: Amount }>();
  readonly #managed = new Set<string>();
  #now = { cpu: 0, memory: 0, askedCpu: 0, askedMemory: 0 };
  #sum = { cpu: 0, memory: 0, askedCpu: 0, askedMemory: 0 };

  constructor(autoscaler: string) {
    this.#autoscaler = autoscaler;
  }

  lasted(ms: number): void {
    this.#sum = mapped(this.#sum, (value, key) => value + this.#now[key] * ms);
  }

  take({ put = {}, gone = [] }: TraceEntry): void {
    for (const uid of gone) {
      const node = this.#nodes.get(uid);
      if (node) this.#managed.delete(node.name);
      this.#nodes.delete(uid);
      this.#pods.delete(uid);
    }
    for (const node of (put.Node ?? []) as readonly Node[]) {
      if (groupOf(node, this.#autoscaler) === undefined) continue;
      this.#managed.add(node.metadata.name);
      this.#nodes.set(uidOf("Node", node), { name: node.metadata.name, amount: amountOf(node.status?.allocatable) });
    }
    for (const pod of (put.Pod ?? []) as readonly Pod[]) {
      const uid = uidOf("Pod", pod);
      if (pod.spec.nodeName === undefined || isTerminal(pod)) this.#pods.delete(uid);
      else {
        const { cpu = 0, memory = 0 } = podRequests(pod);
        this.#pods.set(uid, { node: pod.spec.nodeName, amount: { cpu, memory } });
      }
    }
    if (gone.length === 0 && put.Node === undefined && put.Pod === undefined) return;
    const asked = [...this.#pods.values()].filter(({ node }) => this.#managed.has(node)).map(({ amount }) => amount);
    const [all, used] = [summed([...this.#nodes.values()].map(({ amount }) => amount)), summed(asked)];
    this.#now = { cpu: all.cpu, memory: all.memory, askedCpu: used.cpu, askedMemory: used.memory };
  }

  asked(): Shares {
    const { cpu, memory, askedCpu, askedMemory } = this.#sum;
    return { cpu: cpu === 0 ? 0 : askedCpu / cpu, memory: memory === 0 ? 0 : askedMemory / memory };
  }
}

function amountOf(list: ResourceList | undefined): Amount {
  const { cpu = 0, memory = 0 } = parseResources(list);
  return { cpu, memory };
}

const summed = (amounts: readonly Amount[]): Amount =>
  amounts.reduce((sum, { cpu, memory }) => ({ cpu: sum.cpu + cpu, memory: sum.memory + memory }), { cpu: 0, memory: 0 });

function mapped<K extends string>(values: Readonly<Record<K, number>>, change: (value: number, key: K) => number): Record<K, number> {
  return Object.fromEntries(Object.entries(values).map(([key, value]) => [key, change(value as number, key as K)])) as Record<K, number>;
}
