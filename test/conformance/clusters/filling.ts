import { amounts, hardTaint, likesNode } from "../../support/scheduling/judge-rules.ts";
import type { Random } from "../generate/random.ts";
import type { ClusterKind } from "./kinds.ts";
import type { PoolMachine } from "./pools.ts";
import { type Workload, ZONE } from "./workloads.ts";

interface Slot {
  readonly machine: PoolMachine;
  readonly name: string;
  readonly zone: string;
  /** Free cores, bytes and pods up to the share to which the node is filled. */
  cpu: number;
  memory: number;
  pods: number;
}

/** Nodes tried for a replica before it is dropped. */
const TRIES = 24;

/**
 * Fills nodes at random, each up to a drawn share, as after a scale-down: no rule is broken, and too many nodes are
 * used.
 */
export class Filling {
  readonly #random: Random;
  readonly #slots: readonly Slot[];
  readonly #byZone = new Map<string, Slot[]>();

  constructor(random: Random, kind: ClusterKind, machines: readonly PoolMachine[]) {
    this.#random = random;
    this.#slots = machines.flatMap((machine) => {
      if (random.chance(kind.empty)) return [];
      const [least, most] = kind.fill;
      const share = random.int(least * 1000, most * 1000) / 1000;
      const room = amounts(machine.node.status?.allocatable);
      const { name, labels = {} } = machine.node.metadata;
      const zone = labels[ZONE] ?? "";
      return [
        { machine, name, zone, cpu: share * (room["cpu"] ?? 0), memory: share * (room["memory"] ?? 0), pods: (room["pods"] ?? 0) - 8 },
      ];
    });
    for (const slot of this.#slots) {
      const sameZone = this.#byZone.get(slot.zone);
      if (sameZone) sameZone.push(slot);
      else this.#byZone.set(slot.zone, [slot]);
    }
  }

  /** The node of each placed replica, at most `most` replicas. */
  place(workload: Workload, most: number): string[] {
    const perZone = new Map([...this.#byZone.keys()].sort().map((zone) => [zone, 0]));
    const taken = new Set<Slot>();
    const places: string[] = [];
    const only = this.#random.pick([...perZone.keys()]);
    for (let replica = 0; replica < Math.min(workload.replicas, most); replica++) {
      const fewest = Math.min(...perZone.values());
      const zones = workload.zones === "one" ? [only] : [...perZone.keys()].filter((zone) => perZone.get(zone) === fewest);
      const from = workload.zones === "any" ? this.#slots : (this.#byZone.get(this.#random.pick(zones)) ?? []);
      const slot = this.#find(workload, from, taken);
      if (slot === undefined) break;
      slot.cpu -= workload.cpu / 1000;
      slot.memory -= workload.memory;
      slot.pods -= 1;
      perZone.set(slot.zone, (perZone.get(slot.zone) ?? 0) + 1);
      taken.add(slot);
      places.push(slot.name);
    }
    return places;
  }

  #find({ cpu, memory, spec, apart }: Workload, slots: readonly Slot[], taken: ReadonlySet<Slot>): Slot | undefined {
    if (slots.length === 0) return undefined;
    for (let i = 0; i < TRIES; i++) {
      const slot = this.#random.pick(slots);
      const { spec: nodeSpec, metadata } = slot.machine.node;
      if (slot.cpu * 1000 < cpu || slot.memory < memory || slot.pods < 1 || (apart && taken.has(slot))) continue;
      if (hardTaint(nodeSpec.taints ?? [], spec.tolerations) === undefined && likesNode(spec, metadata.labels ?? {})) return slot;
    }
    return undefined;
  }
}
